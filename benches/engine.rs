//! What the engine costs per candidate, the run itself not counted: to propose, apply, parse,
//! weigh, look up names and hash. `cargo bench --bench engine`; the figures by candidate stand in
//! the lines it prints first.

use std::time::Instant;

use divan::Bencher;
use minrepro::{
    engine::{Candidate, Halt, Judge, Judged, Options, reduce},
    journal::Journal,
    oracle::Verdict,
};
use minrepro_reducers::{cost::Cost, registry::PASSES, syntax::Program};

/// A script of about so many lines, of the mix that scripts are made of.
fn script(lines: usize) -> String {
    let mut text =
        String::from("import os\nimport sys\nfrom collections import OrderedDict, defaultdict\n\n");
    let mut number = 0;
    while text.lines().count() + 2 < lines {
        let class = format!(
            "class C{number}(Base):\n    \"\"\"Number {number}.\"\"\"\n\n    def __init__(self, width=768, *, name: str = 'c{number}'):\n        self.width = width\n        self.items = [1, 2, ({number}, 'x'), {{'k': [width, 4]}}]\n\n    # The work.\n    def forward(self, x, scale=1.0):\n        if x is None:\n            raise ValueError(f'no input for {{self.width!r}}')\n        for index, item in enumerate(self.items):\n            x = x + index * scale\n        with open(os.devnull) as stream:\n            print(x, file=stream)\n        return x\n\n\nc{number} = C{number}(width={number}, name='n')\nprint(c{number}.forward(1, scale=2.0))\n",
        );
        text.push_str(&class);
        number += 1;
    }
    text.push_str("needle()\n");
    text
}

struct Needle;

impl Judge for Needle {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        for (index, candidate) in batch.iter().enumerate() {
            let same = candidate.program.text().contains("needle()");
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

/// What keeps everything: each candidate is judged, none is accepted, so that the program stays as
/// large as it is.
struct Nothing;

impl Judge for Nothing {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        for index in 0..batch.len() {
            deliver(
                index,
                Judged {
                    verdict: Verdict::Passed,
                    seconds: 0.0,
                    runs: 1,
                },
            );
        }
        Ok(())
    }
}

fn program(lines: usize) -> Program {
    Program::parse(script(lines)).expect("the script is well-formed")
}

#[divan::bench(args = [30, 300, 3000])]
fn parse(bencher: Bencher<'_, '_>, lines: usize) {
    let text = script(lines);
    bencher.bench(|| Program::parse(text.as_str()).expect("the script is well-formed"));
}

#[divan::bench(args = [30, 300, 3000])]
fn weigh(bencher: Bencher<'_, '_>, lines: usize) {
    let program = program(lines);
    bencher.bench(|| Cost::of(&program));
}

#[divan::bench(args = [30, 300, 3000])]
fn propose(bencher: Bencher<'_, '_>, lines: usize) {
    bencher
        .with_inputs(|| program(lines))
        .bench_refs(|program| {
            PASSES
                .iter()
                .map(|pass| pass.proposals(program).len())
                .sum::<usize>()
        });
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn main() {
    for lines in [30, 300, 3000] {
        for (name, judge) in [
            ("all rejected", &mut Nothing as &mut dyn Judge),
            ("one needle", &mut Needle),
        ] {
            let options = Options {
                max_runs: Some(2000),
                ..Options::default()
            };
            let program = program(lines);
            let started = Instant::now();
            let reduction = reduce(
                program,
                PASSES,
                judge,
                &mut Journal::in_memory(),
                &options,
                &mut |_, _| {},
            );
            let seconds = started.elapsed().as_secs_f64();
            let tally = reduction.tally;
            println!(
                "{lines:>5} lines, {name:12}: {:.3} ms per candidate run, {:.3} ms per candidate planned ({} runs, {} pruned)",
                1000.0 * seconds / tally.runs.max(1) as f64,
                1000.0 * seconds / (tally.runs + tally.pruned).max(1) as f64,
                tally.runs,
                tally.pruned
            );
        }
    }
    divan::main();
}
