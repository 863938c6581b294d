//! Runs that are made once and stand for equal ones later, so that several measures can judge the
//! same runs. Called by the runner; starts nothing itself.

use super::{error::RunError, job::Job, outcome::Outcome};

/// All runs since the recording began.
#[derive(Debug, Default)]
pub(super) struct Recording(Vec<Recorded>);

#[derive(Debug)]
struct Recorded {
    job: Job,
    outcome: Outcome,
    /// Whether it was asked for since the last rewinding.
    is_used: bool,
}

impl Recording {
    /// Makes all runs available again.
    pub(super) fn rewind(&mut self) {
        for recorded in &mut self.0 {
            recorded.is_used = false;
        }
    }

    /// The outcomes of these jobs: recorded ones, each once; the others are run `anew`.
    pub(super) fn run_all(
        &mut self,
        jobs: &[Job],
        done: &mut dyn FnMut(usize, &Outcome),
        anew: impl FnOnce(&[Job], &mut dyn FnMut(usize, &Outcome)) -> Result<Vec<Outcome>, RunError>,
    ) -> Result<Vec<Outcome>, RunError> {
        let mut outcomes: Vec<Option<Outcome>> = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            let mut recorded = self.0.iter_mut();
            let known = recorded.find(|recorded| !recorded.is_used && recorded.job == *job);
            let outcome = known.map(|recorded| {
                recorded.is_used = true;
                recorded.outcome.clone()
            });
            if let Some(outcome) = &outcome {
                done(index, outcome);
            }
            outcomes.push(outcome);
        }
        let open: Vec<usize> = (0..jobs.len())
            .filter(|&at| outcomes[at].is_none())
            .collect();
        let new: Vec<Job> = open.iter().map(|&at| jobs[at].clone()).collect();
        let mut found = Vec::new();
        if !new.is_empty() {
            found = anew(&new, &mut |index, outcome| done(open[index], outcome))?;
        }
        for ((at, job), outcome) in open.into_iter().zip(new).zip(found) {
            outcomes[at] = Some(outcome.clone());
            self.0.push(Recorded {
                job,
                outcome,
                is_used: true,
            });
        }
        Ok(outcomes.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::runner::{Captured, End, Timing};

    fn outcome(wall: u64) -> Outcome {
        Outcome {
            end: End::Exit(0),
            timing: Timing {
                wall: Duration::from_secs(wall),
                ..Timing::default()
            },
            stdout: Captured::default(),
            stderr: Captured::default(),
            exception: None,
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        }
    }

    #[test]
    fn equal_runs_are_made_once_and_answered_as_often_as_they_were_made() {
        let job = |text: &str| Job::new(text.as_bytes().into(), Duration::from_secs(1));
        let mut recording = Recording::default();
        let mut made = 0;
        let mut walls = |recording: &mut Recording, jobs: &[Job]| {
            let outcomes = recording.run_all(jobs, &mut |_, _| {}, |jobs, _| {
                Ok(jobs
                    .iter()
                    .map(|_| {
                        made += 1;
                        outcome(made)
                    })
                    .collect())
            });
            let all = outcomes.unwrap();
            all.iter()
                .map(|one| one.timing.wall.as_secs())
                .collect::<Vec<_>>()
        };
        let [a, b] = [job("a"), job("b")];
        assert_eq!(walls(&mut recording, &[a.clone(), a.clone()]), [1, 2]);
        recording.rewind();
        assert_eq!(walls(&mut recording, &[b.clone(), a.clone()]), [3, 1]);
        assert_eq!(walls(&mut recording, &[a.clone(), a]), [2, 4]);
        recording.rewind();
        assert_eq!(walls(&mut recording, &[b]), [3]);
    }
}
