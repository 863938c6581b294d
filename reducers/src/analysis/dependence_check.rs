//! What a script's own verdict rests on. Where it is a statement of the script that says that
//! something is wrong, any program can say so; what tells it from an empty claim is what was
//! computed for it. So these are the operations that the conditions of that statement depend on,
//! calls of what is not the program's own and operators; and the values that the nearest condition
//! compares. Goes by names, as slices do, and ignores the order of execution. Called by the judge
//! of candidates; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_graph::DependenceGraph, names::ImportedNames, statement_tree::StatementTree,
    },
    rewrite::edit::{Edit, splice},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{CmpOp, Expr, name::Name},
        scope::{BindingKind, ScopeKind},
    },
    trace::evidence::{Evidence, SourceLine},
};

/// Operations by name: `round()`, `+`.
pub type Operations = BTreeSet<String>;

/// What a script's own verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// The operations.
    pub operations: Operations,
    /// The values that the nearest condition compares; none if they are not the same at each run.
    pub values: Vec<String>,
}

/// Which statements of a program say that something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportSite {
    /// The one that raises or asserts: the lines of the program's frames, outermost first.
    Raised(Vec<u32>),
    /// Those that hold most of these words in their literals.
    Words(BTreeSet<String>),
    /// Those that end the program.
    Exit,
}

/// The nodes of each statement, those of the statements within it left out.
type Nodes<'a> = [Vec<AnyNodeRef<'a>>];

/// What begins each line by which a watched program tells a value, and what stands between its
/// parts.
pub(crate) const MARKS: [char; 2] = ['\u{1e}', '\u{1f}'];

/// Writes what it is given on standard error, and gives it back: plain values as they are, of
/// others the type.
const WATCH: &str = r#"(lambda place, value: (__import__("sys").stderr.write("\x1e%s\x1f%s\x1e\n" % (place, ascii(value)[:200] if type(value).__module__ in ("builtins", "datetime", "decimal", "fractions") and " at 0x" not in ascii(value) else type(value).__name__)), value)[1])"#;

/// The operations that each reporting statement rests on. Without evidence every statement counts as
/// executed.
pub fn operations(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Operations> {
    told(program, report_site, evidence, &|outline, nodes, frames| {
        let mut rest = Rest::of(outline, nodes);
        rest.follow(frames);
        rest.operations
    })
}

/// The packages whose code had a part in what a failing statement works on, given the lines of its
/// frames, outermost first: the first parts of the imported names in all that it depends on.
pub fn packages(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> BTreeSet<String> {
    let imported = ImportedNames::of(program.tree());
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let mut rest = Rest::of(outline, nodes);
        rest.follow(frames);
        let nodes = rest.seen.iter().flat_map(|&statement| &nodes[statement]);
        nodes
            .filter_map(|node| imported.name(&node.as_expr_name()?.id))
            .map(|path| path.split('.').next().unwrap_or(path).to_owned())
            .filter(|package| !WORDLESS.contains(&package.as_str()))
            .collect::<BTreeSet<_>>()
    });
    found.into_iter().flatten().collect()
}

/// Packages that make no values.
const WORDLESS: [&str; 4] = ["__future__", "typing", "typing_extensions", "sys"];

/// What the conditions of reporting statements compare, in order; how far each condition is from its
/// statement.
pub(crate) fn operands(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<(TextRange, usize)> {
    let found = told(program, report_site, evidence, &|outline, nodes, frames| {
        let mut operands = Vec::new();
        // A check of a library that raises is its own condition.
        let check = frames
            .last()
            .filter(|_| matches!(report_site, ReportSite::Raised(_)));
        if let Some(AnyNodeRef::StmtExpr(it)) =
            check.map(|&statement| outline.statements[statement].node)
        {
            compared(&it.value, &mut |operand| {
                operands.push((0, operand.range()));
            });
            return operands;
        }
        let conditions = Rest::of(outline, nodes).conditions_of(&frames);
        for (rank, &condition) in conditions.iter().enumerate() {
            for test in tests(outline.statements[condition].node) {
                compared(test, &mut |operand| operands.push((rank, operand.range())));
            }
        }
        operands
    });
    let mut operands: Vec<(TextRange, usize)> = found
        .into_iter()
        .flatten()
        .map(|(rank, range)| (range, rank))
        .collect();
    operands.sort_by_key(|(range, rank)| (range.start(), *rank));
    operands.dedup_by_key(|(range, _)| *range);
    operands
}

/// The program, made to tell what the conditions of reporting statements compare; none if there are
/// no conditions.
pub fn watched(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Option<String> {
    let edits: Vec<Edit> = operands(program, report_site, evidence)
        .iter()
        .enumerate()
        .map(|(place, (range, rank))| {
            let nearest = if *rank == 0 { "nearest" } else { "outer" };
            Edit::replace(
                *range,
                format!("{WATCH}(\"{nearest}{place}\", {})", program.slice(*range)),
            )
        })
        .collect();
    (!edits.is_empty()).then(|| splice(program.text(), &edits))
}

/// What a watched program told: the last value at each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Of the nearest conditions.
    pub nearest: Vec<String>,
    /// Of all others.
    pub outer: Vec<String>,
}

impl Told {
    /// Reads it off the program's standard error.
    pub fn read(stderr: &str) -> Self {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        for told in stderr.split(MARKS[0]) {
            if let Some((place, value)) = told.split_once(MARKS[1]) {
                values.insert(place, value);
            }
        }
        let mut told = Self::default();
        for (place, value) in values {
            let of = if place.starts_with("nearest") {
                &mut told.nearest
            } else {
                &mut told.outer
            };
            of.push(value.to_owned());
        }
        told
    }
}

/// What is to be said of each reporting statement, given as the statements of its frames.
fn told<T>(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
    of: &dyn Fn(&StatementTree<'_>, &Nodes<'_>, Vec<usize>) -> T,
) -> Vec<T> {
    let outline = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let nodes = nodes_by_statement(&outline);
    let statements: Vec<Vec<usize>> = match report_site {
        ReportSite::Raised(lines) => vec![
            lines
                .iter()
                .filter_map(|&line| outline.on_line(SourceLine::of_program(line)))
                .collect(),
        ],
        ReportSite::Words(words) => most_telling(&outline, &nodes, words)
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
fn tests(statement: AnyNodeRef<'_>) -> Vec<&Expr> {
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

/// What a test compares, or asks a function about.
fn compared<'a>(test: &'a Expr, found: &mut dyn FnMut(&'a Expr)) {
    match test {
        Expr::BoolOp(it) => it.values.iter().for_each(|value| compared(value, found)),
        Expr::UnaryOp(it) => compared(&it.operand, found),
        Expr::Compare(it) => std::iter::once(&*it.left)
            .chain(&it.comparators)
            .for_each(found),
        Expr::Call(it)
            if it
                .arguments
                .args
                .iter()
                .all(|argument| !argument.is_starred_expr())
                && !it.arguments.is_empty() =>
        {
            it.arguments.args.iter().for_each(found);
        }
        other => found(other),
    }
}

/// The nodes of each statement, those of the statements within it left out.
fn nodes_by_statement<'a>(outline: &StatementTree<'a>) -> Vec<Vec<AnyNodeRef<'a>>> {
    let mut nodes = vec![Vec::new(); outline.statements.len()];
    let tree = outline.program.tree();
    let mut around: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let own = node
            .node
            .is_statement()
            .then(|| outline.at(node.node.range()))
            .flatten();
        let innermost = own.or_else(|| around[node.parent? as usize]);
        around.push(innermost);
        if let Some(at) = innermost.filter(|_| own.is_none()) {
            nodes[at].push(node.node);
        }
    }
    nodes
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

/// The executed statements whose literals hold most of some words.
fn most_telling(
    outline: &StatementTree<'_>,
    nodes: &Nodes<'_>,
    words: &BTreeSet<String>,
) -> Vec<usize> {
    let count = |statement: &usize| {
        let mut found = BTreeSet::new();
        for node in &nodes[*statement] {
            let literal = match node {
                AnyNodeRef::StringLiteral(it) => it.as_str(),
                AnyNodeRef::InterpolatedStringLiteralElement(it) => &*it.value,
                _ => continue,
            };
            found.extend(
                literal
                    .split(|char: char| !char.is_alphanumeric())
                    .filter(|word| words.contains(*word)),
            );
        }
        found.len()
    };
    let executed = (0..outline.statements.len())
        .filter(|&statement| outline.statements[statement].is_executed);
    let counted: Vec<(usize, usize)> = executed
        .map(|statement| (count(&statement), statement))
        .collect();
    let most = counted.iter().map(|(count, _)| *count).max().unwrap_or(0);
    counted
        .into_iter()
        .filter(|(count, _)| most > 0 && *count == most)
        .map(|(_, statement)| statement)
        .collect()
}

/// A slice that grows backwards from what a statement reads, and the operations in it.
struct Rest<'o, 'a> {
    outline: &'o StatementTree<'a>,
    graph: DependenceGraph<'o, 'a>,
    nodes: &'o Nodes<'a>,
    seen: BTreeSet<usize>,
    variables: BTreeSet<usize>,
    attributes: BTreeSet<Name>,
    todo: Vec<usize>,
    /// The statements of the frames, outermost first.
    frames: Vec<usize>,
    operations: Operations,
}

impl<'o, 'a> Rest<'o, 'a> {
    fn of(outline: &'o StatementTree<'a>, nodes: &'o Nodes<'a>) -> Self {
        Self {
            outline,
            graph: DependenceGraph::of(outline),
            nodes,
            seen: BTreeSet::new(),
            variables: BTreeSet::new(),
            attributes: BTreeSet::new(),
            todo: Vec::new(),
            frames: Vec::new(),
            operations: Operations::new(),
        }
    }

    /// Follows frames, outermost first: what they pass on, and what decides.
    fn follow(&mut self, frames: Vec<usize>) {
        self.todo.extend(self.conditions_of(&frames));
        self.todo.extend(frames.last());
        self.frames = frames;
        while let Some(statement) = self.todo.pop() {
            if self.seen.insert(statement) {
                self.grow(statement);
                let around = self.conditions(statement);
                self.todo.extend(around);
            }
        }
    }

    /// What decides whether the innermost frame that is reached on a condition is, the nearest
    /// first.
    fn conditions_of(&self, frames: &[usize]) -> Vec<usize> {
        let decides =
            |&statement: &usize| !tests(self.outline.statements[statement].node).is_empty();
        let of_frame = |&frame: &usize| {
            let all = std::iter::once(frame).chain(self.conditions(frame));
            Some(all.filter(decides).collect::<Vec<_>>())
                .filter(|conditions| !conditions.is_empty())
        };
        frames.iter().rev().find_map(of_frame).unwrap_or_default()
    }

    /// The statements that decide whether another is reached, within its function: those around it,
    /// and those before it that may leave.
    fn conditions(&self, statement: usize) -> Vec<usize> {
        let outline = self.outline;
        let function = outline.function_of(statement);
        let is_here = |&statement: &usize| {
            outline.function_of(statement) == function && Some(statement) != function
        };
        let around = outline.ancestors(statement).filter(is_here);
        let leaves = |statement: usize| {
            matches!(
                outline.statements[statement].node,
                AnyNodeRef::StmtReturn(_) | AnyNodeRef::StmtBreak(_) | AnyNodeRef::StmtContinue(_)
            )
        };
        let before = (0..statement).filter(is_here).filter(|&statement| {
            let node = outline.statements[statement].node;
            node.is_stmt_if()
                && outline.statements[statement].is_executed
                && outline.within(statement).any(leaves)
        });
        let mut all: Vec<usize> = around.collect();
        // The nearest first.
        all.extend(before.collect::<Vec<_>>().into_iter().rev());
        all
    }

    fn grow(&mut self, index: usize) {
        let statement = &self.outline.statements[index];
        let counted: Option<TextRange> = match statement.node {
            // What it says is not what it rests on.
            AnyNodeRef::StmtRaise(_)
            | AnyNodeRef::StmtFunctionDef(_)
            | AnyNodeRef::StmtClassDef(_) => None,
            AnyNodeRef::StmtAssert(it) => Some(it.test.range()),
            _ => Some(statement.range),
        };
        match statement.node {
            AnyNodeRef::StmtFunctionDef(_) => self.results_of(index),
            AnyNodeRef::StmtClassDef(_) => {
                // What no attribute names is called by the interpreter.
                let is_special = |child: &&usize| match self.outline.statements[**child].node {
                    AnyNodeRef::StmtFunctionDef(def) => def.name.starts_with("__"),
                    _ => false,
                };
                let methods: Vec<usize> = statement
                    .children
                    .iter()
                    .filter(is_special)
                    .copied()
                    .collect();
                self.todo.extend(methods);
            }
            AnyNodeRef::StmtAugAssign(it) => {
                self.operations.insert(it.op.as_str().to_owned());
            }
            _ => {}
        }
        let Some(counted) = counted else { return };
        for node in &self.nodes[index] {
            if counted.contains_range(node.range()) {
                self.operations.extend(self.operation(*node));
            }
        }
        for (variable, range) in &statement.reads {
            if counted.contains_range(*range) && self.variables.insert(*variable) {
                self.grow_by_variable(*variable);
            }
        }
        for (name, range) in &statement.attributes {
            if counted.contains_range(*range) && self.attributes.insert(name.clone()) {
                self.grow_by_attribute(name);
            }
        }
    }

    /// What a function gives back, and what decides that.
    fn results_of(&mut self, function: usize) {
        let is_result = |statement: &usize| {
            let statement = &self.outline.statements[*statement];
            statement.yields || matches!(statement.node, AnyNodeRef::StmtReturn(_))
        };
        let results = self.graph.body(function).filter(is_result);
        self.todo.extend(results);
    }

    fn grow_by_variable(&mut self, index: usize) {
        let variable = &self.outline.program.scopes().variables[index];
        for binding in &variable.bindings {
            match binding.kind {
                BindingKind::Import => {}
                BindingKind::Parameter => {
                    let function = self.outline.at(binding.statement);
                    let calls = self.frames.windows(2);
                    let passing = calls
                        .filter(|pair| self.outline.function_of(pair[1]) == function)
                        .map(|pair| pair[0]);
                    self.todo.extend(passing);
                }
                _ => self.todo.extend(self.graph.executed(binding.statement)),
            }
        }
        self.todo.extend(self.graph.changes_in_place(index));
    }

    fn grow_by_attribute(&mut self, name: &Name) {
        let members = self.graph.members(name).iter();
        self.todo
            .extend(members.map(|definition| definition.statement));
        self.todo.extend(self.graph.stores(name));
        self.todo
            .extend(self.graph.attribute_changes_in_place(name));
    }

    /// The operation that a node is, if it is none of the program's own functions.
    fn operation(&self, node: AnyNodeRef<'_>) -> Vec<String> {
        match node {
            AnyNodeRef::ExprCall(call) => {
                let (name, is_method) = match &*call.func {
                    Expr::Name(it) => (&it.id, false),
                    Expr::Attribute(it) => (&it.attr.id, true),
                    _ => return Vec::new(),
                };
                let is_own = self
                    .outline
                    .program
                    .scopes()
                    .variables
                    .iter()
                    .any(|variable| {
                        let mut bindings = variable.bindings.iter();
                        variable.name == *name
                            && bindings.any(|binding| binding.kind != BindingKind::Import)
                            && is_method == (variable.scope == ScopeKind::Class)
                    });
                if is_own {
                    Vec::new()
                } else {
                    vec![format!("{name}()")]
                }
            }
            // What is computed of literals alone is one.
            AnyNodeRef::ExprBinOp(it)
                if it.left.is_literal_expr() && it.right.is_literal_expr() =>
            {
                Vec::new()
            }
            AnyNodeRef::ExprCompare(it)
                if it.left.is_literal_expr()
                    && it.comparators.iter().all(Expr::is_literal_expr) =>
            {
                Vec::new()
            }
            AnyNodeRef::ExprBinOp(it) => vec![it.op.as_str().to_owned()],
            AnyNodeRef::ExprSlice(_) => vec!["[:]".to_owned()],
            AnyNodeRef::ExprCompare(it) => {
                let is_presence = |operator: &&CmpOp| matches!(operator, CmpOp::Is | CmpOp::IsNot);
                it.ops
                    .iter()
                    .filter(|operator| !is_presence(operator))
                    .map(|operator| operator.as_str().to_owned())
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_are_those_of_all_that_a_failing_statement_depends_on() {
        let of = |text: &str, frames: &[u32]| {
            let found = packages(&Program::parse(text).unwrap(), frames, None);
            found.into_iter().collect::<Vec<_>>().join(" ")
        };
        let text = "import csv, io, os\nfrom typing import List\ndef rows(data):\n    return \
                    list(csv.DictReader(io.StringIO(data)))\nos.getcwd()\nfor row in rows(''):\n    \
                    row['id']\n";
        assert_eq!(of(text, &[7]), "csv io");
        assert_eq!(of("import csv\ncsv.reader([])\n{}['id']\n", &[3]), "");
        let class = "import pathlib\nclass P(pathlib.Path):\n    def f(self):\n        return \
                     self.x\nP().f()\n";
        assert_eq!(of(class, &[5, 4]), "pathlib");
    }

    #[track_caller]
    fn check(text: &str, report_site: &ReportSite, expected: &[&str]) {
        let found = operations(&Program::parse(text).unwrap(), report_site, None);
        let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_an_assertion_rests_on() {
        let last = |text: &str, expected: &[&str]| {
            check(
                text,
                &ReportSite::Raised(vec![text.lines().count() as u32]),
                expected,
            );
        };
        last(
            "x = round(1.5)\nassert x == 2, str(x)\n",
            &["==", "round()"],
        );
        last("assert False\n", &[]);
        last(
            "def f(x): return sorted(x)[1:]\ny = open('a')\nassert f([1])\n",
            &["[:]", "sorted()"],
        );
        last(
            "rows = []\nrows.append(1)\nlog = len(rows)\nassert rows\n",
            &["append()"],
        );
        last(
            "x = 0\nx += 1\nfor y in zip(x):\n    assert y\n",
            &["+", "zip()"],
        );
        last(
            "class A:\n    def __init__(self): self.x = max(1)\n    def f(self): return self.x * 2\nassert A().f() < 3\n",
            &["*", "<", "max()"],
        );
    }

    #[test]
    fn what_a_raise_rests_on() {
        let text = "def f(x):\n    if x < 1:\n        return\n    raise ValueError(str(x))\ny = abs(2)\nf(y)\n";
        check(text, &ReportSite::Raised(vec![6, 4]), &["<", "abs()"]);
        check(
            "raise ValueError(str(1))\n",
            &ReportSite::Raised(vec![1]),
            &[],
        );
    }

    #[test]
    fn a_watched_program_tells_what_it_compares() {
        let text =
            "def f(x):\n    if x < 1:\n        return\n    raise ValueError(str(x))\nf(abs(2))\n";
        let watched = watched(
            &Program::parse(text).unwrap(),
            &ReportSite::Raised(vec![5, 4]),
            None,
        )
        .unwrap();
        assert!(
            watched.contains("(\"nearest0\", x) < ") && watched.contains("(\"nearest1\", 1):"),
            "{watched}"
        );
        assert_eq!(watched.lines().count(), text.lines().count());
        let told = "noise\u{1e}nearest0\u{1f}3\u{1e}\n\u{1e}nearest0\u{1f}'a'\u{1e}\nmore\u{1e}outer1\u{1f}4\u{1e}\n";
        assert_eq!(
            Told::read(told),
            Told {
                nearest: vec!["'a'".to_owned()],
                outer: vec!["4".to_owned()]
            }
        );
    }

    #[test]
    fn what_words_and_exits_rest_on() {
        let words = |text: &str| ReportSite::Words(text.split(' ').map(str::to_owned).collect());
        let text = "import sys\nx = hash(1)\nif x > 0:\n    print('sum is wrong')\n    sys.exit(3)\nprint('sum')\n";
        check(text, &words("sum is wrong"), &[">", "hash()", "print()"]);
        check(text, &ReportSite::Exit, &[">", "exit()", "hash()"]);
        check(text, &words("other"), &[]);
    }
}
