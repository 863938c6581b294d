//! Short checks for the tests of passes.

use std::collections::BTreeMap;

use crate::{
    cost::Cost,
    pass::{Pass, Proposal, Stage},
    rewrite::edit::EditSet,
    syntax::Program,
    trace::{
        evidence::{Call, Evidence, Frame, MissingSymbols, SourceLine},
        value::{RecordedValue, Tensor, ValueKind},
    },
};

/// Proposals of a pass. Each must meet the rules for all proposals: it applies, parses, lowers the
/// cost, and is the same twice.
#[track_caller]
pub(crate) fn proposals(pass: &Pass, program: &Program) -> Vec<Proposal> {
    let proposals = pass.proposals(program);
    assert_eq!(
        proposals,
        pass.proposals(program),
        "{} proposes differently the second time",
        pass.id
    );
    for proposal in &proposals {
        let text = proposal.edits.apply(program).unwrap();
        let after = Program::parse(text.as_str()).unwrap_or_else(|error| {
            panic!("{} on\n{}makes\n{text}{error}", pass.id, program.text())
        });
        assert!(
            Cost::of(&after) < Cost::of(program),
            "{} on\n{}does not lower the cost of\n{text}",
            pass.id,
            program.text()
        );
    }
    proposals
}

/// The texts that single proposals make, in order.
#[track_caller]
pub(crate) fn check_edits(pass: &Pass, before: &str, expected: &[&str]) {
    let program = Program::parse(before).unwrap();
    let texts: Vec<String> = proposals(pass, &program)
        .iter()
        .map(|proposal| proposal.edits.apply(&program).unwrap())
        .collect();
    assert_eq!(texts, expected);
}

/// The text that all proposals together make.
#[track_caller]
pub(crate) fn check_all(pass: &Pass, before: &str, expected: &str) {
    let program = Program::parse(before).unwrap();
    let all = proposals(pass, &program)
        .iter()
        .fold(EditSet::default(), |all, proposal| {
            all.union(&proposal.edits)
        });
    assert_eq!(all.apply(&program).unwrap(), expected);
}

/// Nothing is proposed.
#[track_caller]
pub(crate) fn check_none(pass: &Pass, text: &str) {
    let program = Program::parse(text).unwrap();
    let proposals = proposals(pass, &program);
    assert!(proposals.is_empty(), "{proposals:?}");
}

/// One of the proposals, or all of them together, turns the example of a pass's documentation from
/// before to after.
#[track_caller]
pub(crate) fn check_example(pass: &Pass) {
    let before = pass
        .example("before")
        .expect("the doc comment has a block fenced `python before`");
    let after = pass
        .example("after")
        .expect("the doc comment has a block fenced `python after`");
    let program = Program::parse(before.as_str()).unwrap();
    let evidence = evidence(&before);
    let proposals = if pass.stage == Stage::TraceGuided {
        pass.proposals_with(&program, Some(&evidence), &MissingSymbols::default())
    } else {
        proposals(pass, &program)
    };
    let all = proposals.iter().fold(EditSet::default(), |all, proposal| {
        all.union(&proposal.edits)
    });
    let mut texts: Vec<_> = proposals
        .iter()
        .map(|proposal| proposal.edits.apply(&program).unwrap())
        .collect();
    texts.extend(all.apply(&program).ok());
    assert!(
        texts.contains(&after),
        "no proposal makes\n{after}but\n{}",
        texts.join("or\n")
    );
}

/// Evidence, given as comments on the lines of a text: `# not executed`, and `# fails` or
/// `# fails with x: 1; y: 2` on the lines of the traceback, the inner ones first; `# compiled`
/// likewise on lines that were being compiled; `# called with x: 1` and `# returned 1` on the lines
/// of functions; `# done f(1)` on those of calls; `# under way f(1)` and
/// `# under way, compiled f(1)` on any; `# goes back with x: 1` on those of the forward call, the
/// inner ones first. All functions were entered.
pub(crate) fn evidence(text: &str) -> Evidence {
    let mut evidence = Evidence::default();
    for (number, content) in (1..).zip(text.lines()) {
        let line = SourceLine::of_program(number);
        evidence.entered.insert(line, 1);
        if !content.ends_with("# not executed") {
            evidence.hits.insert(line, 1);
        }
        let pairs = |values: &str| -> BTreeMap<String, RecordedValue> {
            let pairs = values.trim_start_matches(" with").split("; ");
            let pairs = pairs.filter_map(|pair| pair.split_once(": "));
            pairs
                .map(|(name, value)| (name.trim().to_owned(), recorded(value)))
                .collect()
        };
        if let Some((_, value)) = content.split_once("# returned ") {
            evidence.returned.insert(line, recorded(value));
        }
        if let Some((_, call)) = content.split_once("# done ") {
            evidence.done.insert(line, call.to_owned().into());
        }
        for (mark, compiled) in [("# under way ", false), ("# under way, compiled ", true)] {
            let call = content
                .split_once(mark)
                .and_then(|(_, call)| call.strip_suffix(')')?.split_once('('));
            let call = call.map(|(called, arguments)| (called.to_owned(), arguments.to_owned()));
            let call = call.map(|(called, arguments)| Call {
                called,
                arguments,
                compiled,
            });
            evidence.calls.extend(call);
        }
        if let Some((_, values)) = content.split_once("# called") {
            evidence.arguments.insert(line, pairs(values));
        }
        let compiled = content.split_once("# compiled");
        let forward = content.split_once("# goes back");
        if let Some((_, values)) = content.split_once("# fails").or(compiled).or(forward) {
            let is_module = !content.starts_with(' ');
            let mut values = pairs(values);
            let inside = values.remove("inside").into_iter().collect();
            let (results, values) = values
                .into_iter()
                .partition(|(read, _)| read.ends_with(')'));
            let frame = Frame {
                line,
                inside,
                results,
                function: if is_module { "<module>" } else { "f" }.to_owned(),
                compiled: compiled.is_some(),
                values,
                ..Frame::default()
            };
            let frames = if forward.is_some() {
                &mut evidence.forward
            } else {
                &mut evidence.failure
            };
            frames.insert(0, frame);
        }
    }
    evidence
}

/// A recorded value, of a kind that its expression tells: tensors are made by functions of `torch`,
/// modules by classes. Those of classes of the program's own are written as they were made.
pub(crate) fn recorded(expression: &str) -> RecordedValue {
    let called = expression.split('(').next().unwrap_or_default();
    let is_class = |name: &str| name.starts_with(|first: char| first.is_uppercase());
    let is_call = called.len() < expression.len();
    let is_module = is_call && called.rsplit('.').next().is_some_and(is_class);
    let kind = if called.starts_with("torch.") && is_call && !is_module {
        ValueKind::Tensor(Tensor {
            requires_grad: expression.contains("requires_grad=True"),
            ..Tensor::default()
        })
    } else if is_module {
        ValueKind::Module
    } else {
        ValueKind::Plain
    };
    RecordedValue {
        expression: expression.to_owned().into(),
        kind,
        parts: Vec::new(),
        is_exact: !is_module || called.contains('.'),
    }
}
