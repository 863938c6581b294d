//! The search itself, on in-memory oracles: what it reaches and how many runs it asks for. No
//! Python runs here.

mod sequential_test;

use std::collections::HashMap;

use minrepro::{
    engine::{
        Candidate, Event, Halt, Judge, Judged, Options, Reduction, Retraction, Stop, Tally, reduce,
    },
    journal::{Journal, Key, TrialRecord},
    oracle::Verdict,
};
use minrepro_reducers::{
    pass::{Pass, Prior, Stage},
    registry::PASSES,
    syntax::{Program, TextRange, TextSize},
};

/// Judges by a closure over the text and counts.
struct Closure<F> {
    interesting: F,
    /// Delivers verdicts in reverse, as many workers might.
    reversed: bool,
    asked: HashMap<Key, u32>,
}

impl<F: FnMut(&str) -> bool> Judge for Closure<F> {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let mut order: Vec<usize> = (0..batch.len()).collect();
        if self.reversed {
            order.reverse();
        }
        for index in order {
            *self.asked.entry(batch[index].key).or_default() += 1;
            let same = (self.interesting)(batch[index].program.text());
            let verdict = if same { Verdict::Same } else { Verdict::Passed };
            deliver(
                index,
                Judged {
                    verdict,
                    seconds: 0.0,
                    runs: 1,
                },
            );
        }
        Ok(())
    }
}

fn run(text: &str, interesting: impl FnMut(&str) -> bool) -> Reduction {
    run_with(
        text,
        &Options {
            unbound_names: true,
            until: None,
            ..Options::default()
        },
        interesting,
    )
}

fn run_with(text: &str, options: &Options, interesting: impl FnMut(&str) -> bool) -> Reduction {
    let mut judge = Closure {
        interesting,
        reversed: false,
        asked: HashMap::new(),
    };
    let program = Program::parse(text).unwrap();
    let reduction = reduce(
        program,
        PASSES,
        &mut judge,
        &mut Journal::in_memory(),
        options,
        &mut |_, _| {},
    );
    assert!(
        judge.asked.values().all(|&times| times == 1),
        "a candidate was run twice"
    );
    assert_eq!(
        reduction.tally.breaches, 0,
        "a pass proposed what does not parse or gains nothing"
    );
    reduction
}

/// Proposes, of every program, to delete its first bracket alone.
static BREAKS_BRACKETS: Pass = Pass {
    id: "break-brackets",
    doc: "Deletes the first bracket.",
    stage: Stage::Detail,
    propose: |cx, out| {
        if let Some(at) = cx.program.text().find('(') {
            let at = TextSize::try_from(at).unwrap();
            let bracket = TextRange::at(at, TextSize::from(1));
            out.delete(bracket, Prior::Likely, "bracket");
        }
    },
};

#[test]
fn a_pass_that_proposes_what_does_not_parse_is_counted_and_never_run() {
    let mut judge = Closure {
        interesting: |text: &str| text.contains("print(needle)"),
        reversed: false,
        asked: HashMap::new(),
    };
    let text = "needle = 1\nprint(needle)\n";
    let reduction = reduce(
        Program::parse(text).unwrap(),
        &[&BREAKS_BRACKETS],
        &mut judge,
        &mut Journal::in_memory(),
        &Options::default(),
        &mut |_, _| {},
    );
    assert_eq!(reduction.program.text(), text);
    // Tried by the greedy search and by the final sweep, counted once.
    assert_eq!(reduction.tally.breaches, 1);
    assert!(reduction.tally.pruned > 1 && judge.asked.is_empty());
}

#[track_caller]
fn check_needle(text: &str, needles: &[&str], expected: &str, ceiling: u64) {
    let reduction = run(text, |text| {
        needles.iter().all(|needle| text.contains(needle))
    });
    assert_eq!(reduction.program.text(), expected);
    assert!(
        reduction.tally.runs <= ceiling,
        "{} runs",
        reduction.tally.runs
    );
    assert!(matches!(reduction.stop, Stop::Done));
}

fn functions(count: usize) -> String {
    (0..count)
        .map(|n| format!("def f{n}(x):\n    y = x + {n}\n    return y\n\n\n"))
        .collect()
}

#[test]
fn one_needle_among_many_statements() {
    check_needle(
        &functions(60),
        &["def f37(x)"],
        "def f37(x):\n    pass\n",
        50,
    );
}

#[test]
fn three_of_two_thousand_functions() {
    let reduction = run(&functions(2000), |text| {
        ["def f17(x)", "def f900(x)", "def f1999(x)"]
            .iter()
            .all(|needle| text.contains(needle))
    });
    assert_eq!(reduction.program.text().matches("def").count(), 3);
    assert!(reduction.tally.runs <= 150, "{} runs", reduction.tally.runs);
}

#[test]
fn one_of_sixty_classes() {
    let text: String = (0..60)
        .map(|n| {
            let body = if n == 31 {
                "SENTINEL_KEEP = 1"
            } else {
                "value = 2"
            };
            format!(
                "class C{n}:\n    {body}\n    def method(self, x):\n        return x + {n}\n\n\n"
            )
        })
        .collect();
    let reduction = run(&text, |text| text.contains("SENTINEL_KEEP"));
    assert_eq!(
        reduction.program.text(),
        "class C31:\n    SENTINEL_KEEP = 0\n"
    );
    assert!(reduction.tally.runs <= 60, "{} runs", reduction.tally.runs);
}

#[test]
fn thirty_functions_with_all_their_parameters() {
    let text: String = (0..30)
        .map(|n| {
            let next = if n == 29 {
                "marker()".to_owned()
            } else {
                format!("f{}(a, b, c, d, e)", n + 1)
            };
            format!("def f{n}(a, b, c, d, e):\n    return {next}\n\n\n")
        })
        .chain(["f0(1, 2, 3, 4, 5)\n".to_owned()])
        .collect();
    // All functions stay, and each goes on calling the next.
    let reduction = run(&text, |text| {
        text.contains("marker()")
            && (0..30).all(|n| {
                text.contains(&format!("def f{n}(")) && text.matches(&format!("f{n}(")).count() == 2
            })
    });
    let left = reduction.program.text();
    assert_eq!(left.matches("()").count(), 61, "{left}");
    // What comes after that is the proof that nothing else goes: each of the functions is asked for
    // several times.
    let last = reduction
        .commits
        .iter()
        .rfind(|it| it.pass == "drop-parameters")
        .map(|it| it.run);
    assert!(
        last.is_some_and(|run| run <= 150),
        "{last:?} of {} runs",
        reduction.tally.runs
    );
}

#[test]
fn nested_needles() {
    check_needle(
        "import os\n\ndef a():\n    with b as c:\n        for d in e:\n            if \
         f:\n                g(1, needle, h=2)\n            i()\n\na()\n",
        &["needle"],
        "needle\n",
        60,
    );
}

#[test]
fn what_is_minimal_costs_little() {
    let reduction = run("x = A + B\n", |text| text == "x = A + B\n");
    assert_eq!(reduction.program.text(), "x = A + B\n");
    assert!(reduction.tally.runs <= 15);
}

#[test]
fn a_result_is_a_fixed_point_with_a_reason_for_each_part() {
    let interesting = |text: &str| text.contains("f(a)") && text.contains("import a");
    let first = run(
        "import a\nimport b\nx = [1, 2]\nf(a)\nprint(x)\n",
        interesting,
    );
    assert_eq!(first.program.text(), "import a\nf(a)\n");
    let second = run(first.program.text(), interesting);
    assert_eq!(second.program.text(), first.program.text());
    assert!(second.commits.is_empty());
    let lines: Vec<u32> = first.kept.iter().map(|kept| kept.line).collect();
    assert!(lines.contains(&1) && lines.contains(&2), "{lines:?}");
}

#[test]
fn names_are_never_left_unbound() {
    let text = "def log(text):\n    print(text)\nx = 1\nlog(x)\ny = 2\nlog(y)\nf = open\nf(y)\n";
    let reduction = run_with(text, &Options::default(), |text| {
        let unbound = Program::parse(text).unwrap().scopes().unbound_names().len();
        assert_eq!(unbound, 0, "{text}");
        text.contains("f(y)")
    });
    assert_eq!(reduction.program.text(), "y = 0\nf = open\nf(y)\n");
}

#[test]
fn the_order_in_which_verdicts_come_changes_nothing() {
    let text = functions(40);
    let interesting = |text: &str| text.contains("y = x + 7") && text.contains("def f30");
    let outcome = |reversed| {
        let mut judge = Closure {
            interesting,
            reversed,
            asked: HashMap::new(),
        };
        let options = Options {
            unbound_names: true,
            until: None,
            ..Options::default()
        };
        let program = Program::parse(text.as_str()).unwrap();
        let mut events = Vec::new();
        let reduction = reduce(
            program,
            PASSES,
            &mut judge,
            &mut Journal::in_memory(),
            &options,
            &mut |event, _| {
                if let Event::Commit { commit, .. } = event {
                    events.push((
                        commit.pass.clone(),
                        commit.note.clone(),
                        commit.tokens,
                        commit.run,
                    ));
                }
            },
        );
        (reduction.program.text().to_owned(), events)
    };
    assert_eq!(outcome(false), outcome(true));
}

#[test]
fn workers_without_work_look_ahead_and_change_nothing() {
    struct Waves<F> {
        inner: Closure<F>,
        waves: usize,
    }
    impl<F: FnMut(&str) -> bool> Judge for Waves<F> {
        fn judge(
            &mut self,
            batch: &[Candidate],
            deliver: &mut dyn FnMut(usize, Judged),
        ) -> Result<(), Halt> {
            self.waves += 1;
            self.inner.judge(batch, deliver)
        }
    }
    let text = functions(40);
    let interesting = |text: &str| text.contains("y = x + 7") && text.contains("def f30");
    let outcome = |jobs| {
        let inner = Closure {
            interesting,
            reversed: false,
            asked: HashMap::new(),
        };
        let mut judge = Waves { inner, waves: 0 };
        let options = Options {
            unbound_names: true,
            until: None,
            jobs,
            ..Options::default()
        };
        let program = Program::parse(text.as_str()).unwrap();
        let mut journal = Journal::in_memory();
        let reduction = reduce(
            program,
            PASSES,
            &mut judge,
            &mut journal,
            &options,
            &mut |_, _| {},
        );
        assert!(
            judge.inner.asked.values().all(|&times| times == 1),
            "a candidate was run twice"
        );
        let Tally {
            runs,
            speculative_runs,
            ..
        } = reduction.tally;
        assert_eq!(runs + speculative_runs, judge.inner.asked.len() as u64);
        let commits: Vec<_> = reduction
            .commits
            .into_iter()
            .map(|it| (it.pass, it.note, it.tokens, it.run))
            .collect();
        (
            (
                reduction.program.text().to_owned(),
                commits,
                runs,
                reduction.tally.pruned,
            ),
            judge.waves,
        )
    };
    let (alone, waves) = outcome(1);
    for jobs in [2, 8, 64] {
        let (together, fewer) = outcome(jobs);
        assert_eq!(alone, together, "{jobs} jobs");
        assert!(fewer <= waves, "{fewer} waves instead of {waves}");
    }
    let (_, fewer) = outcome(64);
    assert!(fewer < waves, "{fewer} waves instead of {waves}");
}

#[test]
fn successes_that_exclude_each_other_are_folded_as_far_as_they_go() {
    // Any one of the calls may go, but three must stay.
    let calls: String = (0..10).map(|n| format!("call({n})\n")).collect();
    let reduction = run(&calls, |text| text.matches("call(").count() >= 3);
    assert_eq!(reduction.program.text().matches("call(").count(), 3);
}

#[test]
fn a_journal_makes_the_second_run_free() {
    let text = functions(30);
    let interesting = |text: &str| text.contains("y = x + 7");
    let mut journal = Journal::in_memory();
    let options = Options {
        unbound_names: true,
        until: None,
        ..Options::default()
    };
    let once = |journal: &mut Journal| {
        let mut judge = Closure {
            interesting,
            reversed: false,
            asked: HashMap::new(),
        };
        reduce(
            Program::parse(text.as_str()).unwrap(),
            PASSES,
            &mut judge,
            journal,
            &options,
            &mut |_, _| {},
        )
    };
    let first = once(&mut journal);
    let second = once(&mut journal);
    assert_eq!(second.tally.runs, 0);
    assert_eq!(second.tally.journal_hits, first.tally.runs);
    assert_eq!(second.program.text(), first.program.text());
    let runs = |reduction: &Reduction| {
        reduction
            .commits
            .iter()
            .map(|it| it.run)
            .collect::<Vec<_>>()
    };
    assert_eq!(runs(&first), runs(&second));
}

#[test]
fn a_budget_of_runs_is_kept_and_the_best_so_far_returned() {
    let text = functions(30);
    let options = Options {
        unbound_names: true,
        until: None,
        max_runs: Some(6),
        ..Options::default()
    };
    let reduction = run_with(&text, &options, |text| text.contains("y = x + 7"));
    assert!(matches!(reduction.stop, Stop::MaxRuns));
    assert_eq!(reduction.tally.runs, 6);
    assert!(reduction.program.text().contains("y = x + 7"));
    assert!(reduction.tally.tokens_now < reduction.tally.tokens_before);
}

#[test]
fn a_halt_keeps_what_was_found_and_judged() {
    struct Halting(u32);
    impl Judge for Halting {
        fn judge(
            &mut self,
            batch: &[Candidate],
            deliver: &mut dyn FnMut(usize, Judged),
        ) -> Result<(), Halt> {
            for (index, candidate) in batch.iter().enumerate() {
                if self.0 == 0 {
                    return Err(Halt::Interrupted(2));
                }
                self.0 -= 1;
                let same = candidate.program.text().contains("y = x + 7");
                let verdict = if same { Verdict::Same } else { Verdict::Passed };
                deliver(
                    index,
                    Judged {
                        verdict,
                        seconds: 0.5,
                        runs: 1,
                    },
                );
            }
            Ok(())
        }
    }
    let text = functions(30);
    let mut journal = Journal::in_memory();
    let options = Options {
        unbound_names: true,
        until: None,
        ..Options::default()
    };
    let mut tally = Tally::default();
    let reduction = reduce(
        Program::parse(text.as_str()).unwrap(),
        PASSES,
        &mut Halting(5),
        &mut journal,
        &options,
        &mut |_, now| tally = *now,
    );
    assert!(matches!(reduction.stop, Stop::Halted(Halt::Interrupted(2))));
    assert_eq!(
        (reduction.tally.runs, reduction.tally.seconds_in_candidates),
        (5, 2.5)
    );
    assert_eq!(tally.runs, 5);
    assert!(reduction.program.text().contains("y = x + 7"));
}

/// Quick until the first doubt, and then does not see that the anchor is gone.
struct Hasty {
    sure: bool,
    doubts: u32,
    /// Whether it confirms while it judges others, and what.
    beside: bool,
    begun: Option<Key>,
    last_begun: Option<(Key, bool)>,
    /// From how many lines on it sees that the anchor is gone.
    sees_from: usize,
}
impl Judge for Hasty {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        for (index, candidate) in batch.iter().enumerate() {
            let text = candidate.program.text();
            let sees = self.sure || text.lines().count() >= self.sees_from;
            let same = text.contains("needle") && (!sees || text.contains("anchor"));
            let verdict = if same { Verdict::Same } else { Verdict::Passed };
            deliver(
                index,
                Judged {
                    verdict,
                    seconds: 0.0,
                    runs: 1,
                },
            );
        }
        Ok(())
    }

    fn begin_confirmation(&mut self, candidate: &Candidate, is_last: bool) -> bool {
        assert_eq!(self.begun, None, "one at a time");
        self.begun = self.beside.then_some(candidate.key);
        self.last_begun = Some((candidate.key, is_last));
        self.beside
    }

    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Retraction>, Halt> {
        assert!(
            self.begun.take().is_none_or(|begun| begun == candidate.key),
            "what was begun comes first"
        );
        if self.sure || candidate.program.text().contains("anchor") {
            return Ok(None);
        }
        self.sure = true;
        self.doubts += 1;
        Ok(Some(Retraction::All("the anchor is gone".to_owned())))
    }
}

#[test]
fn what_is_not_confirmed_is_taken_back() {
    let text = "noise = 1\nanchor = 2\nprint(anchor)\nneedle = 3\nprint(needle)\nmore = 4\n";
    for beside in [false, true] {
        let mut judge = Hasty {
            sure: false,
            doubts: 0,
            beside,
            begun: None,
            last_begun: None,
            sees_from: usize::MAX,
        };
        let mut journal = Journal::in_memory();
        let mut doubted = Vec::new();
        let reduction = reduce(
            Program::parse(text).unwrap(),
            PASSES,
            &mut judge,
            &mut journal,
            &Options::default(),
            &mut |event, _| {
                if let Event::RolledBack { program, .. } = event {
                    doubted.push(program.text().to_owned());
                }
            },
        );
        assert_eq!(
            (judge.doubts, doubted.as_slice()),
            (1, [text.to_owned()].as_slice())
        );
        assert!(matches!(reduction.stop, Stop::Done));
        let left = reduction.program.text();
        assert!(
            left.contains("needle") && left.contains("anchor") && !left.contains("noise"),
            "{left}"
        );
        assert!(
            reduction
                .commits
                .iter()
                .all(|commit| commit.tokens < Program::parse(text).unwrap().size().tokens)
        );
        assert!(reduction.kept.iter().all(|kept| !kept.verdict.is_same()));
        // The result is confirmed beside the end of the last sweep.
        assert_eq!(
            judge.last_begun,
            Some((Key::of(left.as_bytes()), true)),
            "as the result"
        );
    }
}

/// The anchor goes late, among many other changes: those before it are kept.
#[test]
fn what_was_found_before_a_wrong_change_is_kept() {
    use std::fmt::Write;
    let mut text = "from lib import use\nuse('anchor')\nuse('needle')\n".to_owned();
    for number in 0..200 {
        writeln!(text, "use({number})").unwrap();
    }
    let mut judge = Hasty {
        sure: false,
        doubts: 0,
        beside: true,
        begun: None,
        last_begun: None,
        sees_from: 30,
    };
    let mut journal = Journal::in_memory();
    let mut taken_back = None;
    let reduction = reduce(
        Program::parse(text.as_str()).unwrap(),
        PASSES,
        &mut judge,
        &mut journal,
        &Options::default(),
        &mut |event, _| {
            if let Event::RolledBack { program, .. } = event {
                taken_back = Some(program.text().to_owned());
            }
        },
    );
    let taken_back = taken_back.unwrap();
    let lines = taken_back.lines().count();
    assert!(taken_back.contains("anchor"), "{taken_back}");
    assert!(lines < 100, "{lines} lines: {taken_back}");
    let left = reduction.program.text();
    assert!(
        left.contains("anchor") && left.lines().count() <= 5,
        "{left}"
    );
}

#[test]
fn records_of_another_session_are_believed() {
    let mut journal = Journal::in_memory();
    let program = Program::parse("x = 1\ny = 2\n").unwrap();
    let key = Key::of(b"x = 1\n");
    journal
        .put(
            key,
            TrialRecord {
                verdict: Verdict::Same,
                seconds: 1.0,
                runs: 2,
            },
        )
        .unwrap();
    let mut judge = Closure {
        interesting: |_: &str| false,
        reversed: false,
        asked: HashMap::new(),
    };
    let reduction = reduce(
        program,
        PASSES,
        &mut judge,
        &mut journal,
        &Options::default(),
        &mut |_, _| {},
    );
    assert_eq!(reduction.program.text(), "x = 1\n");
    assert_eq!(reduction.tally.journal_hits, 2);
}

#[test]
fn what_is_hopeless_is_never_run() {
    /// Knows that nothing shows the bug without its anchor, and counts what it runs.
    struct Knowing(u64);
    impl Judge for Knowing {
        fn judge(
            &mut self,
            batch: &[Candidate],
            deliver: &mut dyn FnMut(usize, Judged),
        ) -> Result<(), Halt> {
            for (index, candidate) in batch.iter().enumerate() {
                let text = candidate.program.text();
                assert!(text.contains("anchor"), "{text}");
                let verdict = if text.contains("needle") {
                    Verdict::Same
                } else {
                    Verdict::Passed
                };
                // Each has a control run.
                deliver(
                    index,
                    Judged {
                        verdict,
                        seconds: 0.0,
                        runs: 2,
                    },
                );
                self.0 += 1;
            }
            Ok(())
        }

        fn is_hopeless(&self, candidate: &Candidate) -> bool {
            !candidate.program.text().contains("anchor")
        }
    }
    let mut judge = Knowing(0);
    let reduction = reduce(
        Program::parse("noise = 1\nanchor = 2\nneedle = 3\nmore = 4\n").unwrap(),
        PASSES,
        &mut judge,
        &mut Journal::in_memory(),
        &Options::default(),
        &mut |_, _| {},
    );
    assert!(matches!(reduction.stop, Stop::Done));
    let left = reduction.program.text();
    assert!(
        left.contains("needle") && left.contains("anchor") && !left.contains("noise"),
        "{left}"
    );
    assert_eq!(reduction.tally.runs, 2 * judge.0);
}
