//! A program that is changed to write down what its checks ask about: values, calls, exceptions. It
//! does so on standard error, and each of its lines stays where it is, so that one run, which may
//! be traced, answers all of them. Called by the judge; proposes nothing.

use std::{cmp::Reverse, collections::BTreeSet};

use crate::{
    rewrite::edit::{Edit, splice},
    syntax::{
        Program, Ranged, TextRange, TextSize,
        ast::{Expr, Stmt},
    },
};

/// Marks on standard error: around each thing that is written down, and behind its name.
const MARKS: [char; 2] = ['\u{1e}', '\u{1f}'];

/// Defines the function that writes.
const SHOW: &str = include_str!("observation/show.py");

/// Begins to note the lines of packages that run, which it writes down at the end.
const PATHS: &str = include_str!("observation/paths.py");

/// What a program wrote down: each thing with its name.
pub(crate) fn marked(stderr: &str) -> impl Iterator<Item = (&str, &str)> {
    let [begin, between] = MARKS;
    stderr
        .split(begin)
        .filter_map(move |told| told.split_once(between))
}

/// What makes a program write down what is asked about.
#[derive(Clone, Debug, Default)]
pub struct Observation(BTreeSet<Addition>);

/// An addition to a program that writes something down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Addition {
    /// A statement before another one.
    Statement(TextSize, String),
    /// A text before an expression, and one behind it.
    Around((TextSize, TextSize), String, &'static str),
}

/// What an insertion belongs to; those at one place stand in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum InsertionPlace {
    /// Behind an expression that begins there; the innermost first.
    Behind(Reverse<TextSize>),
    /// A statement.
    Statement,
    /// Before an expression that ends there; the outermost first.
    Before(Reverse<TextSize>),
}

impl Addition {
    /// Its insertions, each with its place.
    fn insertions(&self) -> Vec<(TextSize, InsertionPlace, &str)> {
        match self {
            Self::Statement(at, text) => vec![(*at, InsertionPlace::Statement, text)],
            Self::Around((start, end), before, behind) => vec![
                (*start, InsertionPlace::Before(Reverse(*end)), before),
                (*end, InsertionPlace::Behind(Reverse(*start)), behind),
            ],
        }
    }
}

impl Observation {
    /// Whether nothing is asked about.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds another one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Writes down the value of an expression under a name.
    pub(super) fn value(&mut self, range: TextRange, name: &str) {
        self.around(range, &call(&format!("\"value\", {name:?}, ")), ")");
    }

    /// Writes down what a function receives whenever it is called by this expression.
    pub(super) fn calls_of(&mut self, range: TextRange, name: &str) {
        self.around(range, &call(&format!("\"call\", {name:?}, ")), ")");
    }

    /// Writes down what an operator receives when this expression is its operand.
    pub(super) fn operand(&mut self, range: TextRange, name: &str) {
        self.around(range, &call(&format!("\"operand\", {name:?}, ")), ")");
    }

    /// Writes down an exception when these statements handle it.
    pub(super) fn exception(&mut self, handler: &[Stmt]) {
        self.at_start(handler, &call("\"caught\")"));
    }

    /// Writes down that these statements run.
    pub(super) fn start(&mut self, body: &[Stmt], name: &str) {
        self.at_start(body, &call(&format!("\"ran\", {name:?})")));
    }

    /// Writes down which lines of packages run.
    pub(super) fn paths(&mut self, program: &Program) {
        self.at_start(
            program.body(),
            &format!("__import__(\"builtins\").exec({PATHS:?}, {{}})"),
        );
    }

    /// The changed program; none if nothing is asked about.
    pub fn text(&self, program: &Program) -> Option<String> {
        let mut insertions: Vec<_> = self.0.iter().flat_map(Addition::insertions).collect();
        insertions.sort();
        let insertions = insertions.into_iter();
        let edits: Vec<Edit> = insertions
            .map(|(at, _, text)| Edit::replace(TextRange::empty(at), text))
            .collect();
        (!edits.is_empty()).then(|| splice(program.text(), &edits))
    }

    fn around(&mut self, range: TextRange, before: &str, behind: &'static str) {
        let range = (range.start(), range.end());
        self.0
            .insert(Addition::Around(range, before.to_owned(), behind));
    }

    /// Evaluates an expression before anything else in a body, or as early as can be.
    fn at_start(&mut self, body: &[Stmt], expression: &str) {
        // A docstring is none if it is not the first, nor is an import from the future one; what
        // only defines something can wait.
        let can_wait = |stmt: &&Stmt| match stmt {
            Stmt::Expr(stmt) => stmt.value.is_string_literal_expr(),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => true,
            Stmt::ImportFrom(import) => import.module.as_deref() == Some("__future__"),
            _ => false,
        };
        let evaluates = |stmt: &&Stmt| stmt.is_class_def_stmt() || evaluated_first(stmt).is_some();
        let first = body.iter().find(|stmt| !can_wait(stmt));
        let first = first.or_else(|| body.iter().find(evaluates));
        let Some(first) = first.or(body.first()) else {
            return;
        };
        if let Stmt::Try(attempt) = first {
            return self.at_start(&attempt.body, expression);
        }
        if let Stmt::ClassDef(class) = first
            && evaluated_first(first).is_none()
        {
            return self.at_start(&class.body, expression);
        }
        match evaluated_first(first) {
            Some(value) => self.around(value.range(), &format!("({expression}, "), ")[1]"),
            // A function that nothing calls does nothing.
            None if first.is_function_def_stmt() => {}
            None => {
                let statement = format!("{expression}; ");
                self.0.insert(Addition::Statement(first.start(), statement));
            }
        }
    }
}

/// The beginning of a call of the function that writes, which its first call defines.
fn call(arguments: &str) -> String {
    let builtins = "__import__(\"builtins\")";
    format!(
        "({builtins}.__dict__.get(\"_minrepro_show\") or {builtins}.exec({SHOW:?}, {{}}) or \
         {builtins}._minrepro_show)({arguments}"
    )
}

/// The expression that a compound statement evaluates first.
fn evaluated_first(stmt: &Stmt) -> Option<&Expr> {
    match stmt {
        Stmt::If(stmt) => Some(&stmt.test),
        Stmt::While(stmt) => Some(&stmt.test),
        Stmt::For(stmt) => Some(&stmt.iter),
        Stmt::With(stmt) => Some(&stmt.items.first()?.context_expr),
        Stmt::Match(stmt) => Some(&stmt.subject),
        Stmt::FunctionDef(def) => Some(&def.decorator_list.first()?.expression),
        Stmt::ClassDef(class) => {
            let decorators = class.decorator_list.iter();
            let mut decorators = decorators.map(|decorator| &decorator.expression);
            decorators.next().or_else(|| class.bases().first())
        }
        _ => None,
    }
}

/// The text of an observing program with the function that writes called `show`.
#[cfg(test)]
pub(super) fn readable(text: &str) -> String {
    text.replace(&call(""), "show(")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::AnyNodeRef;

    #[test]
    fn observations_may_hold_one_another_and_lines_stay() {
        let text = "def f(x):\n    '''Doc.'''\n    for y in g(x):\n        y.h(x)\n";
        let program = Program::parse(text).unwrap();
        let mut observation = Observation::default();
        let body = &program.body()[0].as_function_def_stmt().unwrap().body;
        observation.start(body, "f");
        for node in &program.tree().nodes {
            if let AnyNodeRef::ExprCall(call) = node.node {
                observation.value(call.range, "call");
                observation.value(call.range, "call");
                observation.calls_of(call.func.range(), "called");
            }
        }
        let expected = "def f(x):\n    '''Doc.'''\n    for y in (show(\"ran\", \"f\"), show(\"value\", \"call\", show(\"call\", \"called\", g)(x)))[1]:\n        show(\"value\", \"call\", show(\"call\", \"called\", y.h)(x))\n";
        assert_eq!(readable(&observation.text(&program).unwrap()), expected);
        assert!(Observation::default().text(&program).is_none());
    }

    #[test]
    fn statements_are_put_before_others_on_their_lines() {
        let check = |text: &str, expected: &str| {
            let program = Program::parse(text).unwrap();
            let attempt = program.body()[0].as_try_stmt().unwrap();
            let handler = attempt.handlers[0].as_except_handler().unwrap();
            let mut observation = Observation::default();
            observation.exception(&handler.body);
            assert_eq!(readable(&observation.text(&program).unwrap()), expected);
        };
        check(
            "try: f()\nexcept A: g()\n",
            "try: f()\nexcept A: show(\"caught\"); g()\n",
        );
        check(
            "try: f()\nexcept A:\n    try:\n        g()\n    finally: h()\n",
            "try: f()\nexcept A:\n    try:\n        show(\"caught\"); g()\n    finally: h()\n",
        );
    }
}
