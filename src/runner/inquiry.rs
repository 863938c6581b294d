//! Questions to the script's own interpreter: programs of ours that run where candidates run, in a
//! copy of the same folder and under the same bounds. Called by the targets and the judge.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use super::{error::RunError, handle::Runner, job::Job, outcome::Outcome};

/// How long an answer may take, which for some includes a run of the user's code.
const LIMIT: Duration = Duration::from_mins(5);

/// The beginning of an answer's line.
const LEAD: &str = "minrepro-answer: ";

impl Runner {
    /// Asks a question: the program finds `question` in its variable of that name and calls
    /// `answer(value)`. The run comes back as well.
    ///
    /// # Errors
    ///
    /// The run could not be made.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(
        &self,
        program: &str,
        question: &Q,
    ) -> Result<(Option<A>, Outcome), RunError> {
        let question = serde_json::to_string(question).unwrap_or_default();
        // JSON in a string of JSON, which is one of Python as well.
        let literal = serde_json::to_string(&question).unwrap_or_default();
        let source = format!(
            "import json, sys\nquestion = json.loads({literal})\n\
             def answer(value, out=sys.stdout):\n    \
             out.write('\\n{LEAD}' + json.dumps(value) + '\\n')\n    out.flush()\n{program}"
        );
        let outcome = self.run_once(source.into_bytes())?;
        let text = outcome.stdout.text();
        let found = text.lines().rev().find_map(|line| line.strip_prefix(LEAD));
        let found = found.and_then(|line| serde_json::from_str(line).ok());
        drop(text);
        Ok((found, outcome))
    }

    /// Runs one program.
    ///
    /// # Errors
    ///
    /// The run could not be made.
    pub fn run_once(&self, source: Vec<u8>) -> Result<Outcome, RunError> {
        let job = Job::new(source.into(), LIMIT);
        let mut outcomes = self.run_all(&[job], &mut |_, _| {})?;
        outcomes.pop().ok_or(RunError::Deadline)
    }
}
