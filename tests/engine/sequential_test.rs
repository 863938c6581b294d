//! Bugs that show in three of ten runs, simulated: what a reduction ends with, and how many runs
//! that takes; and the error rates of the test itself against those that it states. All chance is
//! seeded.

use minrepro::{
    engine::{Candidate, Halt, Judge, Judged, Options, Reduction, Retraction, reduce},
    journal::Journal,
    oracle::{SequentialTest, Verdict},
};
use minrepro_reducers::{registry::PASSES, syntax::Program};

use crate::support::tell;

/// `SplitMix64`.
struct Chance(u64);

impl Chance {
    fn shows(&mut self, rate: f64) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / ((1_u64 << 53) as f64) < rate
    }

    /// Runs until the test decides: whether it accepts, and after how many runs.
    fn decide(&mut self, test: &SequentialTest, rate: f64) -> (bool, u64) {
        let (mut same, mut of) = (0, 0);
        loop {
            let more = test.at_least(same, of);
            of += more;
            same += (0..more).filter(|_| self.shows(rate)).count();
            if let Some(accepted) = test.decide(same, of) {
                return (accepted, of as u64);
            }
        }
    }
}

/// A race between two threads that a third makes likely.
const SCRIPT: &str = "\
import threading
import time
names = ['a', 'b', 'c']
log = []
def note(text):
    log.append(text)
    return len(log)
def first(x):
    note('first')
    return race(x)
def second(x):
    note('second')
    return other(x)
class Table:
    rows = 3
    def fill(self, n):
        for name in names:
            note(name * n)
        return self
table = Table().fill(2)
slow = load(7)
one = threading.Thread(target=first)
two = threading.Thread(target=second)
if len(names) > 2:
    one.start()
two.start()
print(log, table.rows)
";

/// In how many runs a program shows the bug.
fn rate(text: &str) -> f64 {
    match (text.contains("race("), text.contains("load(")) {
        (true, true) => 0.3,
        (true, false) => 0.03,
        _ => 0.0,
    }
}

/// Judges by runs that chance decides; without a test the bug shows each time.
struct Simulated {
    chance: Chance,
    test: Option<SequentialTest>,
    runs: u64,
}

impl Judge for Simulated {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        for (index, candidate) in batch.iter().enumerate() {
            let rate = rate(candidate.program.text());
            let (same, runs) = match &self.test {
                Some(test) => self.chance.decide(test, rate),
                None => (rate > 0.1, 1),
            };
            self.runs += runs;
            let verdict = if same { Verdict::Same } else { Verdict::Passed };
            deliver(
                index,
                Judged {
                    verdict,
                    seconds: 0.0,
                    runs,
                },
            );
        }
        Ok(())
    }

    fn patience(&self) -> Option<u64> {
        self.test.as_ref().map(SequentialTest::doubtful_after)
    }

    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Retraction>, Halt> {
        let Some(test) = &mut self.test else {
            return Ok(None);
        };
        let (same, runs) = self
            .chance
            .decide(&test.strict(), rate(candidate.program.text()));
        self.runs += runs;
        if same {
            return Ok(None);
        }
        test.wrongly_accepted /= 10.0;
        Ok(Some(Retraction::Accepted("too rare".to_owned())))
    }
}

/// The script among other things that it could do without.
fn script() -> String {
    let noise = |n: usize| {
        let last = n - 1;
        format!(
            "def step{n}(x, y=[{n}, 1]):\n    total = x + {n}\n    for z in y:\n        total += z \
             * {last}\n    return total\n\
             notes{n} = {{'a': step{n}(2), 'b': [step{n}(z) for z in range({n})]}}\n"
        )
    };
    (1..=12).map(noise).chain([SCRIPT.to_owned()]).collect()
}

fn run(seed: u64, test: Option<SequentialTest>) -> (Reduction, u64) {
    let mut judge = Simulated {
        chance: Chance(seed),
        test,
        runs: 0,
    };
    let options = Options {
        unbound_names: true,
        until: None,
        singly: test.is_some(),
        ..Options::default()
    };
    let program = Program::parse(script()).unwrap();
    let reduction = reduce(
        program,
        PASSES,
        &mut judge,
        &mut Journal::in_memory(),
        &options,
        &mut |_, _| {},
    );
    (reduction, judge.runs)
}

/// What twenty runs of a script say that shows the bug in three of ten.
fn test() -> SequentialTest {
    SequentialTest::of(6, 20, None).unwrap()
}

#[test]
fn a_hundred_reductions_end_with_what_is_true() {
    let (sure, of_sure) = run(0, None);
    assert!((rate(sure.program.text()) - 0.3).abs() < 1e-9);
    let (mut true_ones, mut runs, mut tokens) = (0, 0, 0);
    for seed in 1..=100 {
        let (reduction, of_this) = run(seed, Some(test()));
        true_ones += u64::from((rate(reduction.program.text()) - 0.3).abs() < 1e-9);
        runs += of_this;
        tokens += reduction.program.size().tokens;
    }
    let ratio = runs as f64 / 100.0 / of_sure as f64;
    let size = f64::from(tokens) / 100.0 / f64::from(sure.program.size().tokens);
    tell(&format!(
        "{true_ones} of 100 are true, by {ratio:.2} times the runs of a sure bug ({of_sure}), \
         {size:.2} times the size"
    ));
    assert!(true_ones >= 99, "{true_ones} of 100 are true");
    assert!(ratio <= 8.0, "{ratio:.2} times the runs of a sure bug");
}

#[test]
fn the_test_errs_no_more_often_than_it_states() {
    let mut chance = Chance(7);
    for test in [
        test(),
        test().strict(),
        SequentialTest::of(10, 20, Some(0.2)).unwrap(),
    ] {
        let mut share = |rate: f64, wrong: bool| {
            let wrongs = (0..10_000)
                .filter(|_| chance.decide(&test, rate).0 == wrong)
                .count();
            wrongs as f64 / 10_000.0
        };
        let (accepted, refused) = (share(test.least, true), share(test.rate, false));
        tell(&format!(
            "wrongly accepted: {accepted} ({} stated), wrongly refused: {refused} ({} stated)",
            test.wrongly_accepted, test.wrongly_refused
        ));
        assert!(accepted <= test.wrongly_accepted, "{test:?}: {accepted}");
        assert!(refused <= test.wrongly_refused, "{test:?}: {refused}");
        assert!(
            share(test.least / 2.0, true) <= accepted,
            "what is rarer is accepted less often"
        );
    }
}

#[test]
fn what_shows_too_rarely_is_no_base() {
    assert_eq!(SequentialTest::of(1, 20, None), None);
    assert_eq!(SequentialTest::of(6, 20, Some(0.4)), None);
    assert!(SequentialTest::of(20, 20, Some(0.7)).unwrap().patience() < test().patience());
}
