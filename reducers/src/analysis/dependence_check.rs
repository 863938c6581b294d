//! The dependences of a script's own verdict. If a statement of the script reports that something
//! is wrong, any program could report so. What distinguishes it from an empty claim is the
//! computation behind it. So this file finds the operations that the conditions of that statement
//! depend on (operators and calls of functions that are not the program's own), and the values that
//! the nearest condition compares. Goes by names, as slices do, and ignores the order of execution.
//! Called by the judge of candidates; proposes nothing.

mod conditions;
mod effects;
mod elsewhere;
mod fields;
mod files;
mod iterators;
mod makers;
mod nodes;
mod operands;
mod operations;
mod passing;
mod rest;
mod sought;
#[cfg(test)]
mod tests;
mod way;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use effects::only_reads;
pub use makers::Receivers;
pub(crate) use nodes::Nodes;
pub use operands::{
    are_read, making, packages_of_arguments, packages_of_operands, read_of_standard, round_trips,
};
pub use operations::EMPTY_PART;
pub(crate) use operations::constant;
pub(crate) use rest::Rest;
pub use rest::{Side, Surplus, surplus};
use serde::{Deserialize, Serialize};
pub use sought::Sought;
pub use way::are_of_others;

use crate::{
    analysis::{
        names::{ImportedNames, is_installed},
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Program, Ranged, TextSize, ast::Expr},
    trace::evidence::{Evidence, SourceLine},
};

/// Operations by name: `round()`, `+`, and calls whose result nobody uses: `append() alone`.
pub type Operations = BTreeSet<String>;

/// The mark of calls whose result nobody uses, or that change their object whether or not somebody
/// uses it.
const FOR_EFFECT: &str = " alone";

/// Whether there are all of some operations among others. A call whose result is used may stand for
/// one whose result is not, but not the other way round.
pub fn include(found: &Operations, required: &Operations) -> bool {
    required.iter().all(|operation| {
        let used = operation.strip_suffix(FOR_EFFECT);
        found.contains(operation) || used.is_some_and(|used| found.contains(used))
    })
}

/// The dependences of a script's own verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// The operations.
    pub operations: Operations,
    /// Those of them that do not only repeat others.
    #[serde(default)]
    pub flow: Operations,
    /// Those that decided, each time that a loop came to them, that a value was not set.
    #[serde(default)]
    pub missed: Operations,
    /// The values that the nearest condition compares; none if they are not the same at each run.
    pub values: Vec<String>,
    /// The operations that each side of that condition depends on by itself.
    #[serde(default)]
    pub sides: Vec<Operations>,
    /// What the methods of one name are called on, if packages made it.
    #[serde(default)]
    pub receivers: Receivers,
    /// What is looked up and written down.
    #[serde(default)]
    pub sought: Sought,
    /// How often calls were made for nothing but their effect, if a number is expected of them that is
    /// written out.
    #[serde(default)]
    pub times: BTreeMap<String, u64>,
}

/// Which statements of a program say that something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportSite {
    /// The one that raises or asserts: the lines of the program's frames, outermost first.
    Raised(Vec<u32>),
    /// Those that hold most of these words in their literals.
    Words(BTreeSet<String>),
    /// Those that begin there, by themselves.
    Statements(Vec<TextSize>),
    /// Those that end the program.
    Exit,
}

/// The operations that each reporting statement rests on. Without evidence every statement counts
/// as executed.
pub fn operations(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Operations> {
    told(program, report_site, evidence, &|outline, nodes, frames| {
        Rest::of(outline, nodes).of_frames(frames).operations()
    })
}

/// The operations that each reporting statement rests on, without loops that only repeat something.
pub fn flow(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Operations> {
    told(program, report_site, evidence, &|outline, nodes, frames| {
        let rest = Rest::of(outline, nodes).flow();
        rest.of_frames(frames).own_operations()
    })
}

/// The operations that decided, each time that a loop came to them, that a value was not set on
/// which each reporting statement rests. What is asked once, after the loop, is another question.
pub fn missed(program: &Program, report_site: &ReportSite, evidence: &Evidence) -> Vec<Operations> {
    told(
        program,
        report_site,
        Some(evidence),
        &|outline, nodes, frames| {
            let rest = Rest::of(outline, nodes).of_frames(frames);
            rest.missed_operations()
        },
    )
}

/// How often the calls were made for nothing but their effect on which each reporting statement rests.
pub fn effect_times(
    program: &Program,
    report_site: &ReportSite,
    evidence: &Evidence,
) -> Vec<BTreeMap<String, u64>> {
    let evidence = Some(evidence);
    told(program, report_site, evidence, &|outline, nodes, frames| {
        Rest::of(outline, nodes).of_frames(frames).effect_times()
    })
}

/// What the methods are called on that each reporting statement rests on.
pub fn receivers(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Receivers> {
    told(program, report_site, evidence, &|outline, nodes, frames| {
        let rest = Rest::of(outline, nodes).of_frames(frames);
        let nodes = rest.statements().flat_map(|statement| &nodes[statement]);
        Receivers::of(outline, nodes.copied())
    })
}

/// The packages that took part in computing the values of a failing statement, given the lines of
/// its frames, outermost first: the first parts of all imported names that the statement depends
/// on.
pub fn packages(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> BTreeSet<String> {
    let imported = ImportedNames::of(program.tree());
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let rest = Rest::of(outline, nodes).of_frames(frames);
        let nodes = rest.statements().flat_map(|statement| &nodes[statement]);
        nodes
            .filter_map(|node| imported.name(&node.as_expr_name()?.id))
            .filter(|path| !DECLARING.contains(path))
            .map(|path| path.split('.').next().unwrap_or(path).to_owned())
            .filter(|package| !WORDLESS.contains(&package.as_str()))
            .collect::<BTreeSet<_>>()
    });
    found.into_iter().flatten().collect()
}

/// Whether one of some packages does not come with Python.
pub fn are_installed(packages: &BTreeSet<String>) -> bool {
    packages.iter().any(|package| is_installed(package))
}

/// What the arguments of the calls in a failing statement are read off objects by, given the lines
/// of its frames, outermost first: the attributes and methods that the program does not define. An
/// argument that does not come from the package whose function is called is the program's own.
pub fn read_for_arguments(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> BTreeSet<String> {
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let Some(&last) = frames.last() else {
            return BTreeSet::new();
        };
        let origin = |part| Rest::of(outline, nodes).origin(last, part, &frames);
        let mut read = BTreeSet::new();
        for call in nodes[last].iter().filter_map(AnyNodeRef::as_expr_call) {
            let called = origin(call.func.range());
            for argument in call.arguments.arguments_source_order() {
                let given = origin(argument.value().range());
                if !given.packages.is_disjoint(&called.packages) {
                    read.extend(given.read);
                }
            }
        }
        read
    });
    found.into_iter().flatten().collect()
}

/// Packages that make no values.
const WORDLESS: [&str; 4] = ["__future__", "typing", "typing_extensions", "sys"];

/// What declares records of the program's own values.
const DECLARING: [&str; 4] = [
    "collections.namedtuple",
    "dataclasses.dataclass",
    "dataclasses.field",
    "types.SimpleNamespace",
];

/// Applies a question to each reporting statement, given as the statements of its frames.
pub(crate) fn told<T>(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
    of: &dyn Fn(&StatementTree<'_>, &Nodes<'_>, Vec<usize>) -> T,
) -> Vec<T> {
    let outline = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let nodes = Nodes::of(&outline);
    let statements: Vec<Vec<usize>> = match report_site {
        ReportSite::Raised(lines) => vec![
            lines
                .iter()
                .filter_map(|&line| outline.on_line(SourceLine::of_program(line)))
                .collect(),
        ],
        ReportSite::Statements(starts) => (0..outline.statements.len())
            .filter(|&statement| starts.contains(&outline.statements[statement].range.start()))
            .map(|statement| vec![statement])
            .collect(),
        ReportSite::Words(words) => telling(&outline, &nodes, words)
            .into_iter()
            .map(|statement| vec![statement])
            .collect(),
        ReportSite::Exit => (0..outline.statements.len())
            .filter(|&statement| {
                outline.statements[statement].is_executed && nodes[statement].iter().any(is_exit)
            })
            .map(|statement| vec![statement])
            .collect(),
    };
    statements
        .into_iter()
        .map(|frames| of(&outline, &nodes, frames))
        .collect()
}

/// The expressions that decide which way a statement goes.
pub(crate) fn tests(statement: AnyNodeRef<'_>) -> Vec<&Expr> {
    match statement {
        AnyNodeRef::StmtIf(it) => {
            let clauses = it
                .elif_else_clauses
                .iter()
                .filter_map(|clause| clause.test.as_ref());
            std::iter::once(&*it.test).chain(clauses).collect()
        }
        AnyNodeRef::StmtWhile(it) => vec![&it.test],
        AnyNodeRef::StmtAssert(it) => vec![&it.test],
        AnyNodeRef::StmtMatch(it) => vec![&it.subject],
        _ => Vec::new(),
    }
}

/// Whether a node ends the program in the interpreter's way.
fn is_exit(node: &AnyNodeRef<'_>) -> bool {
    let name = match node {
        AnyNodeRef::ExprName(it) => it.id.as_str(),
        AnyNodeRef::ExprAttribute(it) => it.attr.as_str(),
        _ => return false,
    };
    matches!(name, "exit" | "_exit" | "quit" | "SystemExit")
}

/// The executed statements that say most of some words: those whose literals hold them or, if these
/// only assign them, the calls of others' functions that get them, and what ends the program.
fn telling(outline: &StatementTree<'_>, nodes: &Nodes<'_>, words: &BTreeSet<String>) -> Vec<usize> {
    let is_docstring = |statement: usize| {
        let stmt = outline.statements[statement].node.as_stmt_expr();
        stmt.is_some_and(|stmt| stmt.value.is_string_literal_expr())
    };
    let executed: Vec<usize> = (0..outline.statements.len())
        .filter(|&statement| outline.statements[statement].is_executed && !is_docstring(statement))
        .collect();
    let holding = most_telling(executed.iter().copied(), &|statement| {
        count(words, nodes[statement].iter().filter_map(literal_of))
    });
    let is_assigned = |statement: &usize| {
        let node = outline.statements[*statement].node;
        node.is_stmt_assign() || node.is_stmt_ann_assign()
    };
    let said: Vec<usize> = holding
        .iter()
        .copied()
        .filter(|statement| !is_assigned(statement))
        .collect();
    if !said.is_empty() {
        return said;
    }
    let own = outline.program.defined_names();
    let calls = executed.into_iter().filter(|&statement| {
        // What ends the program says why.
        if outline.statements[statement].node.is_stmt_raise() {
            return nodes[statement].iter().any(is_exit);
        }
        let stmt = outline.statements[statement].node.as_stmt_expr();
        let call = stmt.and_then(|stmt| stmt.value.as_call_expr());
        call.is_some_and(|call| match &*call.func {
            Expr::Name(name) => !own.contains(name.id.as_str()),
            Expr::Attribute(method) => !own.contains(method.attr.as_str()),
            _ => false,
        })
    });
    let getting = most_telling(calls, &|statement| {
        let rest = Rest::of(outline, nodes).of_frames(vec![statement]);
        let nodes = rest.statements().flat_map(|statement| &nodes[statement]);
        count(words, nodes.filter_map(literal_of))
    });
    if getting.is_empty() { holding } else { getting }
}

/// Whether a statement of a program writes out most of some words, so that the others are no more
/// than values in its text.
pub(crate) fn writes_out(program: &Program, words: &BTreeSet<String>) -> bool {
    let tree = StatementTree::untraced(program);
    let nodes = Nodes::of(&tree);
    let statements = nodes.by_statement();
    let most = statements.map(|nodes| count(words, nodes.iter().filter_map(literal_of)));
    most.max().unwrap_or(0) * 2 > words.len()
}

/// Whether a statement of a program writes out most of the words that report a failure.
pub fn is_written_out(program: &Program, report_site: &ReportSite) -> bool {
    match report_site {
        ReportSite::Words(words) => writes_out(program, words),
        _ => true,
    }
}

/// Those of some statements that say most, if any says something.
fn most_telling(
    statements: impl Iterator<Item = usize>,
    words_in: &dyn Fn(usize) -> usize,
) -> Vec<usize> {
    let counted: Vec<(usize, usize)> = statements
        .map(|statement| (words_in(statement), statement))
        .collect();
    let most = counted.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let telling = counted
        .into_iter()
        .filter(|(count, _)| most > 0 && *count == most);
    telling.map(|(_, statement)| statement).collect()
}

/// The text of a literal, or of a part of a formatted one.
fn literal_of<'a>(node: &AnyNodeRef<'a>) -> Option<&'a str> {
    match node {
        AnyNodeRef::StringLiteral(it) => Some(it.as_str()),
        AnyNodeRef::InterpolatedStringLiteralElement(it) => Some(&*it.value),
        _ => None,
    }
}

/// How many of some words texts hold.
fn count<'t>(words: &BTreeSet<String>, texts: impl Iterator<Item = &'t str>) -> usize {
    let found = texts.flat_map(|text| text.split(|char: char| !char.is_alphanumeric()));
    let found: BTreeSet<&str> = found.filter(|word| words.contains(*word)).collect();
    found.len()
}
