//! Single parts of a program that can be left out: a keyword of calls, a call that its receiver or
//! first argument can replace, a decorator, a context. If a program succeeds without a part, the
//! part is one reason why it fails. Goes only by names of libraries. Called by the judge; proposes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        calls::Others,
        names::{ImportedNames, is_installed},
        watch::assigned,
    },
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, TextRange,
        ast::{Expr, ExprCall, Keyword, UnaryOp},
        rows::RowKind,
    },
};

/// The replacement for a context that is left out.
const NO_CONTEXT: &str = "__import__('contextlib').nullcontext()";

/// Methods that only convert: the target of the conversion says more than their names.
const CONVERSIONS: [&str; 3] = ["to", "type", "astype"];

/// Functions and methods that copy: to make a thing once more is as good.
const COPIES: [&str; 3] = ["clone", "copy", "deepcopy"];

/// Methods by which an object of a package gives plain numbers.
const GIVING_NUMBERS: [&str; 9] = [
    "dim",
    "element_size",
    "item",
    "nelement",
    "ndimension",
    "numel",
    "size",
    "stride",
    "tolist",
];

/// Attributes of an object of a package that are such objects as well.
const VIEWS: [&str; 6] = ["H", "T", "data", "grad", "mH", "mT"];

/// How many names may stand between an object and the call that makes it.
const DEPTH: usize = 8;

/// Methods of data that no package makes: texts, collections, files.
const METHODS_OF_DATA: [&str; 37] = [
    "add",
    "append",
    "capitalize",
    "clear",
    "close",
    "copy",
    "count",
    "decode",
    "encode",
    "endswith",
    "extend",
    "find",
    "flush",
    "format",
    "get",
    "index",
    "insert",
    "items",
    "join",
    "keys",
    "lower",
    "lstrip",
    "pop",
    "read",
    "remove",
    "replace",
    "rstrip",
    "setdefault",
    "sort",
    "split",
    "startswith",
    "strip",
    "title",
    "update",
    "upper",
    "values",
    "write",
];

/// Whose names count as parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Libraries {
    /// Those of packages that do not come with Python.
    Installed,
    /// Those of Python's own modules as well.
    All,
}

impl Libraries {
    /// Whether a path leads into one of them.
    fn contain(self, path: &str) -> bool {
        is_installed(path) || self == Self::All && !path.is_empty() && !path.starts_with('.')
    }
}

/// A part of a program, wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// Arguments by a keyword.
    Keyword(String),
    /// Calls of a function or method, by the last part of its name.
    Call(String),
    /// An operator between objects of a package.
    Operator(String),
}

impl Omission {
    /// The part, for people.
    pub fn name(&self) -> String {
        match self {
            Self::Keyword(name) => format!("{name}="),
            Self::Call(name) | Self::Operator(name) => name.clone(),
        }
    }
}

/// A part that a program needs to fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramPart {
    /// What is left out.
    pub omission: Omission,
    /// The libraries whose part it is.
    of: Libraries,
    /// The words by which a program has it.
    words: BTreeSet<String>,
    /// How much text it is, in bytes.
    pub size: u32,
    /// How often its operator, if it is one, stands elsewhere in the program.
    #[serde(default)]
    elsewhere: usize,
}

impl ProgramPart {
    /// Whether a program with these words has it. An operator may also stand between plain numbers,
    /// so there must be more of it than elsewhere, or one between objects of a package.
    pub fn is_in(&self, program: &Program, words: &BTreeSet<String>) -> bool {
        let is_there = match &self.omission {
            Omission::Operator(symbol) => {
                operations(program, symbol) > self.elsewhere || self.without(program).is_some()
            }
            Omission::Keyword(_) | Omission::Call(_) => true,
        };
        is_there && self.words.is_subset(words)
    }

    /// A program without the part; none if it does not have it where it can be left out.
    pub fn without(&self, program: &Program) -> Option<String> {
        let mut parts = PartSearch::of(program, self.of).parts();
        parts.remove(&self.omission)?.edits.apply(program).ok()
    }
}

/// The parts of a program that can be left out, in the order of the text, except calls that make up
/// a whole statement on one of some lines: the failing call is not the reason of its own failure.
pub fn parts(program: &Program, of: Libraries, lines: &[u32]) -> Vec<ProgramPart> {
    let mut found = PartSearch::of(program, of).parts();
    found.retain(|_, place| !lines.contains(&place.statement.unwrap_or_default()));
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, place)| place.first);
    let parts = found.into_iter().map(|(omission, place)| ProgramPart {
        elsewhere: match &omission {
            Omission::Operator(symbol) => operations(program, symbol) - place.count,
            Omission::Keyword(_) | Omission::Call(_) => 0,
        },
        omission,
        of,
        words: place.words,
        size: place.size,
    });
    parts.collect()
}

/// How many operations of a program have an operator.
fn operations(program: &Program, symbol: &str) -> usize {
    let nodes = program.tree().nodes.iter();
    let operators = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprBinOp(operation) => Some(operation.op.as_str()),
        AnyNodeRef::ExprUnaryOp(operation) => Some(operation.op.as_str()),
        AnyNodeRef::StmtAugAssign(assign) => Some(assign.op.as_str()),
        _ => None,
    });
    operators.filter(|operator| *operator == symbol).count()
}

/// The words of a program by which it has its parts: names, attributes, keywords, and texts that
/// could be names.
pub fn words(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::ExprName(name) => found.insert(word(&name.id)),
            AnyNodeRef::ExprAttribute(attribute) => found.insert(word(&attribute.attr)),
            AnyNodeRef::Keyword(keyword) => keyword
                .arg
                .as_ref()
                .is_some_and(|arg| found.insert(word(arg))),
            AnyNodeRef::ExprBinOp(operation) => found.insert(operation.op.as_str().to_owned()),
            AnyNodeRef::StmtAugAssign(assign) => found.insert(assign.op.as_str().to_owned()),
            AnyNodeRef::ExprUnaryOp(operation) => found.insert(operation.op.as_str().to_owned()),
            AnyNodeRef::Alias(alias) => found.insert(word(last(&alias.name))),
            AnyNodeRef::ExprStringLiteral(text) => found.insert(word(text.value.to_str())),
            _ => false,
        };
    }
    found
}

/// A name without a suffix that only says that it changes its object, and one name for each data
/// type.
fn word(name: &str) -> String {
    match name.trim_end_matches('_') {
        "half" => "float16",
        "double" => "float64",
        name => name,
    }
    .to_owned()
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Where a part stands.
struct Occurrences {
    edits: EditSet,
    words: BTreeSet<String>,
    size: u32,
    /// In how many places it stands.
    count: usize,
    /// Where it stands first.
    first: u32,
    /// The line of the statement that is nothing else.
    statement: Option<u32>,
}

type Parts = BTreeMap<Omission, Occurrences>;

/// Looks for the parts of one program.
struct PartSearch<'a> {
    program: &'a Program,
    libraries: Libraries,
    others: Others<'a>,
    imported: ImportedNames<'a>,
    found: Parts,
    /// Those that stand somewhere where they cannot be left out.
    fixed: BTreeSet<Omission>,
}

impl<'a> PartSearch<'a> {
    fn of(program: &'a Program, libraries: Libraries) -> Self {
        Self {
            program,
            libraries,
            others: Others::of(program),
            imported: ImportedNames::of(program.tree()),
            found: Parts::new(),
            fixed: BTreeSet::new(),
        }
    }

    /// All parts; none in a program that imports no such library.
    fn parts(mut self) -> Parts {
        if !self
            .imported
            .paths()
            .any(|path| self.libraries.contain(path))
        {
            return Parts::new();
        }
        for (index, node) in self.program.tree().nodes.iter().enumerate() {
            match node.node {
                AnyNodeRef::ExprCall(call) => {
                    let Some(called) = self.called(call) else {
                        continue;
                    };
                    for keyword in &*call.arguments.keywords {
                        self.keyword(keyword);
                    }
                    self.call(called, call, index);
                }
                AnyNodeRef::ExprBinOp(operation) => {
                    self.operator(operation.op.as_str(), operation.range, &operation.left);
                }
                AnyNodeRef::ExprUnaryOp(operation) => {
                    self.operator(operation.op.as_str(), operation.range, &operation.operand);
                }
                _ => {}
            }
        }
        let fixed = self.fixed;
        self.found.retain(|omission, _| !fixed.contains(omission));
        self.found
    }

    /// The callee of a call that belongs to a package.
    fn called(&self, call: &'a ExprCall) -> Option<&'a str> {
        let name = self.others.called(call)?;
        let path = self.imported.path(&call.func);
        let is_method = call.func.is_attribute_expr() && path.is_none();
        let is_of_data = METHODS_OF_DATA.contains(&name);
        let is_foreign =
            path.is_some_and(|path| self.libraries.contain(&path)) || is_method && !is_of_data;
        // Seeds decide about chance, not about the computed values, and a number is as good as the
        // call that gives it.
        let is_needless = COPIES.contains(&name)
            || GIVING_NUMBERS.contains(&name)
            || name.starts_with("__")
            || name.contains("seed");
        (is_foreign && !is_needless).then_some(name)
    }

    fn keyword(&mut self, keyword: &'a Keyword) {
        let Some(name) = &keyword.arg else {
            return;
        };
        let item = self.item(RowKind::Arguments, keyword.range);
        let omission = Omission::Keyword(name.to_string());
        let mut words = self.meant(&keyword.value);
        if words.is_empty() {
            words.insert(word(name));
        }
        match item {
            Some(edits) => self.add(omission, edits, words, keyword.range, None),
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// An operation that its first operand can stand for, if that is of a package. Operations with
    /// plain numbers are as good as their results.
    fn operator(&mut self, symbol: &str, range: TextRange, operand: &Expr) {
        if !self.is_made_by_package(operand, DEPTH) {
            return;
        }
        let omission = Omission::Operator(symbol.to_owned());
        match keep_part(self.program, range, operand) {
            Some(edits) => {
                let words = BTreeSet::from([symbol.to_owned()]);
                self.add(omission, edits, words, range, None);
            }
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// Whether an expression is the result of a package's call, or is computed from one.
    fn is_made_by_package(&self, value: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match value {
            Expr::Call(call) => self.called(call).is_some(),
            Expr::BinOp(operation) => {
                self.is_made_by_package(&operation.left, depth)
                    || self.is_made_by_package(&operation.right, depth)
            }
            Expr::UnaryOp(operation) => self.is_made_by_package(&operation.operand, depth),
            Expr::Subscript(subscript) => self.is_made_by_package(&subscript.value, depth),
            Expr::Attribute(attribute) => {
                VIEWS.contains(&attribute.attr.as_str())
                    && self.is_made_by_package(&attribute.value, depth)
            }
            Expr::Name(name) => {
                let mut variables = self.program.scopes().variables.iter();
                let variable = variables.find(|variable| variable.name == name.id);
                variable.is_some_and(|variable| {
                    let mut bindings = variable.bindings.iter();
                    let is_made = |statement| {
                        let value = assigned(self.program, statement);
                        value.is_some_and(|value| self.is_made_by_package(value, depth))
                    };
                    !variable.bindings.is_empty()
                        && bindings.all(|binding| is_made(binding.statement))
                })
            }
            _ => false,
        }
    }

    fn call(&mut self, name: &str, call: &'a ExprCall, index: usize) {
        let tree = self.program.tree();
        let omission = Omission::Call(name.to_owned());
        let parent = tree.nodes[index].parent;
        let parent = parent.map(|parent| tree.nodes[parent as usize].node);
        let mut statement = None;
        let edits = match parent {
            Some(AnyNodeRef::StmtExpr(only)) => {
                statement = Some(self.program.line_of(only.range.start()));
                let suite = self.item(RowKind::Suite, only.range);
                suite.or_else(|| self.item(RowKind::Module, only.range))
            }
            Some(AnyNodeRef::Decorator(decorator)) => {
                self.item(RowKind::Decorators, decorator.range)
            }
            Some(AnyNodeRef::WithItem(_)) => {
                Some(EditSet::one(Edit::replace(call.range, NO_CONTEXT)))
            }
            _ => {
                statement = self.is_all_of(index);
                let part = self.stands_for(call);
                part.and_then(|part| keep_part(self.program, call.range, part))
            }
        };
        let mut words = BTreeSet::from([word(name)]);
        if CONVERSIONS.contains(&name) {
            let arguments = call.arguments.args.iter();
            let meant: BTreeSet<_> = arguments.flat_map(|value| self.meant(value)).collect();
            if !meant.is_empty() {
                words = meant;
            }
        }
        match edits {
            Some(edits) => self.add(omission, edits, words, call.range, statement),
            None => drop(self.fixed.insert(omission)),
        }
    }

    /// The line of a statement whose whole value is an expression: the value that it assigns or
    /// asserts.
    fn is_all_of(&self, index: usize) -> Option<u32> {
        let nodes = &self.program.tree().nodes;
        let mut parent = nodes[index].parent;
        while let Some(at) = parent {
            let range = match nodes[at as usize].node {
                AnyNodeRef::ExprUnaryOp(negated) if negated.op == UnaryOp::Not => {
                    parent = nodes[at as usize].parent;
                    continue;
                }
                AnyNodeRef::StmtAssign(assign) => assign.range,
                AnyNodeRef::StmtAssert(assert) => assert.range,
                _ => return None,
            };
            return Some(self.program.line_of(range.start()));
        }
        None
    }

    /// The expression that can replace a call: the receiver of its method, or its first argument,
    /// unless that is a plain number or text.
    fn stands_for(&self, call: &'a ExprCall) -> Option<&'a Expr> {
        if let Expr::Attribute(method) = &*call.func
            && self.imported.path(&method.value).is_none()
        {
            return Some(&method.value);
        }
        let first = call.arguments.args.first()?;
        (!first.is_starred_expr() && !first.is_literal_expr()).then_some(first)
    }

    /// The names of packages, and the texts, that a value is.
    fn meant(&self, value: &Expr) -> BTreeSet<String> {
        match value {
            Expr::StringLiteral(text) => BTreeSet::from([word(text.value.to_str())]),
            Expr::Name(_) | Expr::Attribute(_) => {
                let path = self.imported.path(value);
                path.map(|path| word(last(&path))).into_iter().collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// The removal of a thing of a row.
    fn item(&self, kind: RowKind, range: TextRange) -> Option<EditSet> {
        let mut items = self.program.items();
        let found = items.find(|(_, row, item)| row.kind == kind && *item == range)?;
        Some(EditSet::removal(found.0))
    }

    fn add(
        &mut self,
        omission: Omission,
        edits: EditSet,
        words: BTreeSet<String>,
        range: TextRange,
        statement: Option<u32>,
    ) {
        let size = u32::from(range.len());
        let first = u32::from(range.start());
        self.found
            .entry(omission)
            .and_modify(|place| {
                place.edits.extend(&edits);
                // Any of several words is enough.
                place.words.retain(|word| words.contains(word));
                place.size += size;
                place.count += 1;
                place.statement = place.statement.filter(|_| statement.is_some());
            })
            .or_insert(Occurrences {
                edits,
                words,
                size,
                count: 1,
                first,
                statement,
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let program = Program::parse(text).unwrap();
        let found = parts(&program, Libraries::Installed, &[]);
        let found: Vec<_> = found
            .iter()
            .map(|part| (part.omission.name(), part.without(&program).unwrap()))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_part_by_itself() {
        check(
            "import lib\nx = lib.ones(3, dtype=lib.half)\n",
            &[("dtype=", "import lib\nx = lib.ones(3)\n")],
        );
        check(
            "from lib import rot\ny = rot(x.t() + 1).t()\n",
            &[
                ("rot", "from lib import rot\ny = (x.t() + 1).t()\n"),
                ("t", "from lib import rot\ny = rot(x + 1)\n"),
                ("+", "from lib import rot\ny = rot(x.t()).t()\n"),
            ],
        );
        check(
            "import lib\n@lib.fast()\ndef f(x):\n    x.bind()\nwith lib.mode() as m, g():\n    f(x)\n",
            &[
                (
                    "fast",
                    "import lib\ndef f(x):\n    x.bind()\nwith lib.mode() as m, g():\n    f(x)\n",
                ),
                (
                    "bind",
                    "import lib\n@lib.fast()\ndef f(x):\n    pass\nwith lib.mode() as m, g():\n    f(x)\n",
                ),
                (
                    "mode",
                    "import lib\n@lib.fast()\ndef f(x):\n    x.bind()\nwith __import__('contextlib').nullcontext() as m, g():\n    f(x)\n",
                ),
            ],
        );
    }

    #[test]
    fn operators_between_objects_of_packages_are_parts() {
        check(
            "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = -x.T ** n\n",
            &[
                (
                    "-",
                    "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = x.T ** n\n",
                ),
                (
                    "**",
                    "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = -x.T\n",
                ),
            ],
        );
    }

    #[test]
    fn what_is_of_no_package_is_no_part() {
        check("import json\nx.close().run(k=1)\n", &[]);
        check(
            "import json\nimport lib\nprint(len(json.loads(x.read())))\n",
            &[],
        );
    }

    #[test]
    fn what_is_of_pythons_own_modules_is_a_part_if_asked_for() {
        let text = "import queue\nq = queue.Queue(maxsize=1)\nq.put(1)\n";
        let found = parts(&Program::parse(text).unwrap(), Libraries::All, &[]);
        let names: Vec<String> = found.iter().map(|part| part.omission.name()).collect();
        assert_eq!(names, ["maxsize=", "put"]);
    }

    #[test]
    fn parts_are_known_by_their_words() {
        let script = "import lib\nx.to(lib.half)\nx.rows(mode='by column', axis=0)\n";
        let script = Program::parse(script).unwrap();
        let held = |part: usize, candidate: &str| {
            let candidate = Program::parse(candidate).unwrap();
            let words = words(&candidate);
            parts(&script, Libraries::Installed, &[])[part].is_in(&candidate, &words)
        };
        assert!(held(0, "x.half()") && !held(0, "x.to(y)"));
        assert!(held(1, "x.rows()") && !held(1, "x.columns()"));
        assert!(held(2, "f('by column')") && !held(2, "f(mode=1)"));
        assert!(held(3, "f(axis=2)") && !held(3, "x.rows()"));
    }

    #[test]
    fn an_operator_between_numbers_is_not_that_between_objects() {
        let script = "import lib\nx = lib.f() - lib.g()\nassert x.item() - 1 < n - 2\n";
        let script = Program::parse(script).unwrap();
        let all = parts(&script, Libraries::Installed, &[]);
        let part = all.iter().find(|part| part.omission.name() == "-").unwrap();
        let holds = |candidate: &str| {
            let candidate = Program::parse(candidate).unwrap();
            part.is_in(&candidate, &words(&candidate))
        };
        assert!(holds("import lib\nx = lib.f() - 1\n"));
        assert!(holds("def f(x): return x - x\nassert f(y) - 1 < n - 2\n"));
        assert!(!holds(
            "import lib\nx = lib.f()\nassert x.item() - 1 < n - 2\n"
        ));
    }

    #[test]
    fn what_fails_is_no_part() {
        let text = "import lib\ny = x.fails(k=1)\n";
        let found = parts(&Program::parse(text).unwrap(), Libraries::Installed, &[2]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].omission.name(), "k=");
    }
}
