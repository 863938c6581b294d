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

/// The file that what observes seems to stand in. Its frames are no part of a traceback.
pub const OBSERVER: &str = "<minrepro>";

/// Defines the function that writes.
const SHOW: &str = include_str!("observation/show.py");

/// The beginning of a call of the function that writes.
const CALL: &str = "__import__(\"builtins\")._minrepro_show(";

/// Begins to note the lines of packages that run, which it writes down at the end.
const PATHS: &str = include_str!("observation/paths.py");

/// Begins to write down how children fail.
const CHILDREN: &str = include_str!("observation/children.py");

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
    /// Evaluates an expression before anything else in a body, or as early as can be.
    fn at_start(body: &[Stmt], expression: &str) -> Option<Self> {
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
        let first = first.or(body.first())?;
        if let Stmt::Try(attempt) = first {
            return Self::at_start(&attempt.body, expression);
        }
        if let Stmt::ClassDef(class) = first
            && evaluated_first(first).is_none()
        {
            return Self::at_start(&class.body, expression);
        }
        match evaluated_first(first) {
            Some(value) => {
                let range = (value.start(), value.end());
                Some(Self::Around(range, format!("({expression}, "), ")[1]"))
            }
            // A function that nothing calls does nothing.
            None if first.is_function_def_stmt() => None,
            None => Some(Self::Statement(first.start(), format!("{expression}; "))),
        }
    }

    /// Where it begins.
    fn start(&self) -> TextSize {
        match self {
            Self::Statement(start, _) | Self::Around((start, _), ..) => *start,
        }
    }

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
        self.around(range, &format!("{CALL}\"value\", {name:?}, "), ")");
    }

    /// Writes down what a function receives whenever it is called by this expression.
    pub(super) fn calls_of(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("{CALL}\"call\", {name:?}, "), ")");
    }

    /// Writes down what a function prints whenever it is called by this expression.
    pub(super) fn prints_of(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("{CALL}\"printing\", {name:?}, "), ")");
    }

    /// Writes down what an operator receives when this expression is its operand.
    pub(super) fn operand(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("{CALL}\"operand\", {name:?}, ("), "))");
    }

    /// Writes down the kind of a value that may be large.
    pub(super) fn kind(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("{CALL}\"kind\", {name:?}, ("), "))");
    }

    /// Writes down what an object receives when this expression is its index or its key.
    pub(super) fn index(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("{CALL}\"index\", {name:?}, ("), "))");
    }

    /// Writes down whether a loop over this expression finds an iterator used up.
    pub(super) fn turns(&mut self, range: TextRange) {
        self.around(range, &format!("{CALL}\"turns\", \"\", ("), "))");
    }

    /// Writes down that the program comes to an expression.
    pub(super) fn before(&mut self, range: TextRange, name: &str) {
        self.around(range, &format!("({CALL}\"ran\", {name:?}), "), ")[1]");
    }

    /// Writes down an exception when these statements handle it.
    pub(super) fn exception(&mut self, handler: &[Stmt]) {
        self.at_start(handler, &format!("{CALL}\"caught\")"));
    }

    /// Writes down that these statements run.
    pub(super) fn start(&mut self, body: &[Stmt], name: &str) {
        self.at_start(body, &format!("{CALL}\"ran\", {name:?})"));
    }

    /// Writes down which lines of packages run.
    pub(super) fn paths(&mut self, program: &Program) {
        self.at_start(program.body(), &run(PATHS));
    }

    /// Writes down how the processes fail that the program starts.
    pub(super) fn children(&mut self, program: &Program) {
        self.at_start(program.body(), &run(CHILDREN));
    }

    /// The changed program; none if nothing is asked about.
    pub fn text(&self, program: &Program) -> Option<String> {
        let definition = Addition::at_start(program.body(), &run(SHOW));
        let is_needed = |definition: &Addition| {
            let mut additions = self.0.iter();
            additions.any(|addition| definition.start() < addition.start())
        };
        let definition = definition.filter(is_needed);
        let defined_at = definition.as_ref().map(Addition::start);
        let additions = self.0.iter().chain(&definition);
        let mut insertions: Vec<_> = additions.flat_map(Addition::insertions).collect();
        insertions.sort();
        let insertions = insertions.into_iter();
        let edits: Vec<Edit> = insertions
            .map(|(at, _, text)| {
                let range = TextRange::empty(at);
                // What stands before the definition may run before it.
                if defined_at.is_some_and(|defined| defined < at) {
                    Edit::replace(range, text)
                } else {
                    Edit::replace(range, text.replace(CALL, &defining_call()))
                }
            })
            .collect();
        (!self.is_empty()).then(|| splice(program.text(), &edits))
    }

    fn around(&mut self, range: TextRange, before: &str, behind: &'static str) {
        let range = (range.start(), range.end());
        self.0
            .insert(Addition::Around(range, before.to_owned(), behind));
    }

    fn at_start(&mut self, body: &[Stmt], expression: &str) {
        self.0.extend(Addition::at_start(body, expression));
    }
}

/// A call that runs statements in a namespace of their own.
fn run(statements: &str) -> String {
    let builtins = "__import__(\"builtins\")";
    let code = format!("{builtins}.compile({statements:?}, {OBSERVER:?}, \"exec\")");
    format!("{builtins}.exec({code}, {{}})")
}

/// The beginning of a call of the function that writes, which defines it if nothing has yet.
fn defining_call() -> String {
    let builtins = "__import__(\"builtins\")";
    format!(
        "({builtins}.__dict__.get(\"_minrepro_show\") or {} or {builtins}._minrepro_show)(",
        run(SHOW)
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

/// The text of an observing program with the function that writes called `show`, and no statement
/// that defines it.
#[cfg(test)]
pub(super) fn readable(text: &str) -> String {
    let text = text.replace(&defining_call(), "show(");
    let text = text.replace(&format!("{}; ", run(SHOW)), "");
    text.replace(CALL, "show(").replace(&run(SHOW), "define()")
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
    fn what_runs_later_holds_no_definition() {
        let text = "def f(): return g(0)\nx = g(1)\n".to_owned() + &"g(2)\n".repeat(9);
        let program = Program::parse(text).unwrap();
        let mut observation = Observation::default();
        for node in &program.tree().nodes {
            if let AnyNodeRef::ExprCall(call) = node.node {
                observation.calls_of(call.func.range(), "g");
            }
        }
        let text = observation.text(&program).unwrap();
        let definitions: Vec<_> = text.lines().filter(|line| line.contains("exec")).collect();
        assert_eq!(definitions.len(), 2);
        assert!(definitions[0].starts_with("def f") && definitions[1].starts_with("__import__"));
        assert_eq!(
            readable(&text).matches("show(\"call\", \"g\", g)").count(),
            11
        );
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
