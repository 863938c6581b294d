//! Every place of the grammar: for each node and field of Python 3.13's syntax tree a program of
//! which only that part can go, and the passes must find it. The cases stand in `cases.txt`; a real
//! CPython 3.13 says whether any is missing.

use std::collections::BTreeSet;

use minrepro_reducers::{
    cost::Cost,
    registry::PASSES,
    syntax::{Program, Ranged, TokenKind},
};

use crate::support::{command, interpreters, skip};

/// A node, or one of its fields, and a program of which only that part can go.
struct Case {
    part: &'static str,
    /// The program and what must be left of it; `None` where a reason says why nothing could go.
    texts: Option<(&'static str, &'static str)>,
}

fn cases() -> impl Iterator<Item = Case> {
    include_str!("cases.txt")
        .split("\n== ")
        .skip(1)
        .map(|section| {
            let (part, body) = section.split_once('\n').unwrap();
            if body.starts_with("none: ") {
                return Case { part, texts: None };
            }
            let (before, after) = body
                .split_once("\n--\n")
                .unwrap_or_else(|| panic!("{part} has no `--`"));
            Case {
                part,
                texts: Some((before, after.trim_end_matches('\n'))),
            }
        })
}

/// The tokens that are more than layout, of strings what is within the quotes.
fn words(program: &Program) -> Vec<&str> {
    let is_layout = |kind: TokenKind| {
        kind.is_trivia()
            || matches!(
                kind,
                TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::EndOfFile
            )
    };
    let quotes = ['\'', '"'];
    let words = program
        .tokens()
        .iter()
        .filter(|token| !is_layout(token.kind()))
        .map(|token| {
            let word = program.slice(token.range());
            match token.kind() {
                TokenKind::FStringStart | TokenKind::FStringEnd => "",
                TokenKind::String => word[word.find(quotes).unwrap_or(0)..].trim_matches(quotes),
                _ => word,
            }
        });
    words.filter(|word| !word.is_empty()).collect()
}

/// The longest row of words that both have in this order.
fn common<'a>(one: &[&'a str], other: &[&str]) -> Vec<&'a str> {
    let mut best = vec![vec![0u32; other.len() + 1]; one.len() + 1];
    for (at, word) in one.iter().enumerate().rev() {
        for (beside, twin) in other.iter().enumerate().rev() {
            best[at][beside] = if word == twin {
                best[at + 1][beside + 1] + 1
            } else {
                best[at + 1][beside].max(best[at][beside + 1])
            };
        }
    }
    let (mut at, mut beside, mut found) = (0, 0, Vec::new());
    while at < one.len() && beside < other.len() {
        if one[at] == other[beside] {
            found.push(one[at]);
            (at, beside) = (at + 1, beside + 1);
        } else if best[at + 1][beside] >= best[at][beside + 1] {
            at += 1;
        } else {
            beside += 1;
        }
    }
    found
}

fn holds_in_order(words: &[&str], needed: &[&str]) -> bool {
    let mut words = words.iter();
    needed.iter().all(|needed| words.any(|word| word == needed))
}

/// Takes single proposals of any pass, as long as all that is needed is left and nothing more is
/// proposed.
fn reduce(before: &str, needed: &[&str]) -> Program {
    let mut program = Program::parse(before).unwrap();
    'again: loop {
        for pass in PASSES {
            for proposal in pass.proposals(&program) {
                let text = proposal.edits.apply(&program).unwrap();
                let next = Program::parse(text.as_str()).unwrap_or_else(|error| {
                    panic!(
                        "{} makes of\n{}\nthis:\n{text}\n{error}",
                        pass.id,
                        program.text()
                    )
                });
                assert!(
                    Cost::of(&next) < Cost::of(&program),
                    "{} makes of\n{}\nno less:\n{text}",
                    pass.id,
                    program.text()
                );
                let needs =
                    next.scopes().misplaced.is_none() || program.scopes().misplaced.is_some();
                if needs && holds_in_order(&words(&next), needed) {
                    program = next;
                    continue 'again;
                }
            }
        }
        return program;
    }
}

#[test]
fn every_part_of_the_grammar_can_go() {
    let mut left = Vec::new();
    for case in cases() {
        let Some((before, after)) = case.texts else {
            continue;
        };
        let [start, goal] = [before, after].map(|text| {
            Program::parse(format!("{text}\n"))
                .unwrap_or_else(|error| panic!("{}: {error}", case.part))
        });
        let needed = common(&words(&start), &words(&goal));
        let result = reduce(start.text(), &needed);
        if result.text() != goal.text() {
            left.push(format!(
                "{}: of\n{before}\nis left\n{}and not\n{after}\n",
                case.part,
                result.text()
            ));
        }
    }
    assert!(left.is_empty(), "{}\n{} cases", left.join("\n"), left.len());
}

#[test]
fn no_node_and_no_field_is_missing() {
    let test = "no_node_and_no_field_is_missing";
    let Some(python) = interpreters().get(&13) else {
        return skip(test, "no CPython 3.13 found");
    };
    let script = "\
import ast, warnings
warnings.simplefilter('ignore')
nodes = [node for node in vars(ast).values() if isinstance(node, type) and issubclass(node, \
         ast.AST)]
nodes = [node for node in nodes if not (node.__doc__ or '').lower().startswith('deprecated')]
abstract = {base for node in nodes for base in node.__mro__[1:]}
for node in set(nodes) - abstract - {ast.AugLoad, ast.AugStore, ast.Param}:
    for field in node._fields or ['']:
        print((node.__name__ + '.' + field).rstrip('.'))
";
    let output = command(python).args(["-c", script]).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let parts: BTreeSet<&str> = listed.lines().collect();
    assert!(
        parts.contains("TypeVar.default_value"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let cases: BTreeSet<&str> = cases().map(|case| case.part).collect();
    let missing: Vec<_> = parts.difference(&cases).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let nodes: BTreeSet<&str> = parts
        .iter()
        .map(|part| part.split('.').next().unwrap())
        .collect();
    let unknown: Vec<_> = cases
        .iter()
        .filter(|case| !nodes.contains(case.split('.').next().unwrap()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
