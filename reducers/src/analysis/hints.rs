//! The hints of a rejected candidate: its error names what else must be removed. Pure; the engine
//! offers the widened edit next.

use crate::{
    analysis::{cpython, statements::Statements},
    rewrite::{arguments::Places, edit::EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Arguments, Expr, ExprContext, StmtFunctionDef},
        rows::ItemId,
    },
};

/// The missing thing that a failure names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A name that nothing binds any more.
    Name(String),
    /// An attribute that nothing sets any more.
    Attribute(String),
    /// Calls that do not fit their callee.
    Call {
        /// The name by which it is called: of a function, a method, or a class.
        callee: String,
        /// In which way.
        misfit: Misfit,
    },
}

/// How calls do not fit their callee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// So many positional arguments are too much.
    Excess(usize),
    /// It takes no arguments at all.
    NoArguments,
    /// A keyword is unknown.
    Keyword(String),
    /// These parameters get no argument.
    Missing(Vec<String>),
}

impl Hint {
    /// Reads the hint off an exception's class, dots included, and message.
    pub fn of(class: &str, message: &str) -> Option<Self> {
        let name = || cpython::quoted(message).map(|name| Self::Name(name.to_owned()));
        match class.rsplit('.').next()? {
            "NameError" | "UnboundLocalError" => name(),
            "ImportError" if message.starts_with(cpython::CANNOT_IMPORT) => name(),
            "AttributeError" => {
                cpython::missing_attribute(message).map(|name| Self::Attribute(name.to_owned()))
            }
            "TypeError" => Self::of_call(message),
            _ => None,
        }
    }

    /// Reads CPython's messages about arguments that do not fit.
    fn of_call(message: &str) -> Option<Self> {
        let (callee, rest) = message.split_once("() ")?;
        let (outer, name) = callee.rsplit_once('.').unwrap_or(("", callee));
        // A constructor is called by its class, which older interpreters do not name.
        let callee = if name == "__init__" {
            outer.rsplit('.').next().filter(|class| !class.is_empty())?
        } else {
            name
        };
        let quoted = || {
            rest.split('\'')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let misfit = if rest == cpython::TAKES_NOTHING {
            Misfit::NoArguments
        } else if rest.starts_with(cpython::UNEXPECTED_KEYWORD) {
            Misfit::Keyword(quoted().into_iter().next()?)
        } else if rest.starts_with("missing ") {
            Misfit::Missing(quoted())
        } else {
            // takes 1 positional argument but 2 were given; takes from 1 to 2 positional arguments
            // but 3 were given
            let (takes, given) = rest
                .strip_prefix("takes ")?
                .split_once(" positional argument")?;
            let takes: usize = takes.rsplit(' ').next()?.parse().ok()?;
            let given: usize = given
                .split_once("but ")?
                .1
                .split(' ')
                .next()?
                .parse()
                .ok()?;
            Misfit::Excess(given.checked_sub(takes)?)
        };
        Some(Self::Call {
            callee: callee.to_owned(),
            misfit,
        })
    }

    /// An edit set that also removes what the failure names: statements that still mention the
    /// missing thing, or arguments and parameters without a counterpart. `None` if nothing of it is
    /// found.
    pub fn widen(&self, program: &Program, edits: &EditSet) -> Option<EditSet> {
        let wider = match self {
            Self::Call { callee, misfit } => fit(program, edits, callee, misfit),
            Self::Name(_) | Self::Attribute(_) => self.without_mentions(program, edits)?,
        };
        (wider != *edits).then_some(wider)
    }

    fn without_mentions(&self, program: &Program, edits: &EditSet) -> Option<EditSet> {
        let deleted: Vec<TextRange> = edits
            .resolve(program)
            .ok()?
            .iter()
            .map(|edit| edit.range)
            .collect();
        let statements = Statements::of(program);
        let mut wider = edits.clone();
        let mut innermost: Vec<TextRange> = Vec::new();
        for node in &program.tree().nodes {
            let range = node.node.range();
            innermost.retain(|around| around.contains_range(range));
            if node.node.is_statement() {
                innermost.push(range);
            }
            let mentions = match (self, node.node) {
                (Self::Name(name), AnyNodeRef::ExprName(expr)) => {
                    expr.ctx == ExprContext::Load && expr.id == name.as_str()
                }
                (Self::Attribute(name), AnyNodeRef::ExprAttribute(expr)) => {
                    expr.attr.as_str() == name
                }
                _ => false,
            };
            if mentions
                && !deleted.iter().any(|edited| edited.contains_range(range))
                && let Some(place) = innermost
                    .last()
                    .and_then(|&statement| statements.place(statement))
            {
                wider.remove(place);
            }
        }
        Some(wider)
    }
}

/// Edits that also remove the arguments of calls, or the parameters of the callee, that do not fit.
fn fit(program: &Program, edits: &EditSet, callee: &str, misfit: &Misfit) -> EditSet {
    let places = Places::of(program);
    let deleted: Vec<TextRange> = edits
        .resolve(program)
        .unwrap_or_default()
        .iter()
        .map(|edit| edit.range)
        .collect();
    let mut wider = edits.clone();
    let mut drop = |place: Option<ItemId>| {
        if let Some(place) = place {
            wider.remove(place);
        }
    };
    for node in &program.tree().nodes {
        match (node.node, misfit) {
            (
                AnyNodeRef::ExprCall(call),
                Misfit::Excess(_) | Misfit::NoArguments | Misfit::Keyword(_),
            ) => {
                let is_ours = match &*call.func {
                    Expr::Name(it) => it.id == callee,
                    Expr::Attribute(it) => it.attr.as_str() == callee,
                    _ => false,
                };
                if is_ours {
                    for start in misfits(&call.arguments, misfit, &deleted) {
                        drop(places.argument(start));
                    }
                }
            }
            (AnyNodeRef::StmtFunctionDef(def), Misfit::Missing(names))
                if is_callee(program, def, callee) =>
            {
                for parameter in def.parameters.iter_non_variadic_params() {
                    if names.iter().any(|name| parameter.name().id == *name) {
                        drop(places.parameter(parameter.name().start()));
                    }
                }
            }
            _ => {}
        }
    }
    wider
}

/// Whether a function is called by a name: a constructor by that of its class.
fn is_callee(program: &Program, def: &StmtFunctionDef, callee: &str) -> bool {
    let is_constructor = || {
        program.tree().nodes.iter().any(|node| match node.node {
            AnyNodeRef::StmtClassDef(class) => {
                class.name.id == callee && class.range.contains_range(def.range)
            }
            _ => false,
        })
    };
    def.name.id == callee || def.name.id == "__init__" && is_constructor()
}

/// Where the arguments start that do not fit, of those that are still there.
fn misfits(arguments: &Arguments, misfit: &Misfit, deleted: &[TextRange]) -> Vec<TextSize> {
    let is_left = |range: &TextRange| !deleted.iter().any(|edited| edited.contains_range(*range));
    let positional = arguments.args.iter().map(Ranged::range).filter(is_left);
    match misfit {
        Misfit::Excess(count) => positional
            .rev()
            .take(*count)
            .map(TextRange::start)
            .collect(),
        Misfit::NoArguments => positional
            .chain(arguments.keywords.iter().map(Ranged::range))
            .map(TextRange::start)
            .collect(),
        Misfit::Keyword(name) => {
            let named = arguments
                .keywords
                .iter()
                .filter(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.id == *name));
            named.map(Ranged::start).collect()
        }
        Misfit::Missing(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_what_is_missing() {
        let name = |name: &str| Some(Hint::Name(name.to_owned()));
        let attribute = |name: &str| Some(Hint::Attribute(name.to_owned()));
        assert_eq!(
            Hint::of("NameError", "name 'np' is not defined. Did you mean: 'n'?"),
            name("np")
        );
        assert_eq!(
            Hint::of(
                "UnboundLocalError",
                "cannot access local variable 'x' where it is not associated with a value"
            ),
            name("x")
        );
        assert_eq!(
            Hint::of(
                "UnboundLocalError",
                "local variable 'x' referenced before assignment"
            ),
            name("x")
        );
        assert_eq!(
            Hint::of("ImportError", "cannot import name 'f' from 'm' (/m.py)"),
            name("f")
        );
        assert_eq!(
            Hint::of(
                "AttributeError",
                "'A' object has no attribute 'w'. Did you mean: 'v'?"
            ),
            attribute("w")
        );
        assert_eq!(
            Hint::of("AttributeError", "module 'os' has no attribute 'x'"),
            attribute("x")
        );
        assert_eq!(Hint::of("ValueError", "bad 'x'"), None);
        assert_eq!(Hint::of("NameError", ""), None);
    }

    #[test]
    fn type_errors_name_what_does_not_fit() {
        let call = |callee: &str, misfit| {
            Some(Hint::Call {
                callee: callee.to_owned(),
                misfit,
            })
        };
        for (message, expected) in [
            (
                "f() takes 1 positional argument but 2 were given",
                call("f", Misfit::Excess(1)),
            ),
            (
                "a.<locals>.f() takes from 1 to 2 positional arguments but 4 were given",
                call("f", Misfit::Excess(2)),
            ),
            (
                "f() takes 0 positional arguments but 1 was given",
                call("f", Misfit::Excess(1)),
            ),
            ("A() takes no arguments", call("A", Misfit::NoArguments)),
            (
                "A.__init__() got an unexpected keyword argument 'k'",
                call("A", Misfit::Keyword("k".to_owned())),
            ),
            (
                "A.m() missing 2 required positional arguments: 'x' and 'y'",
                call("m", Misfit::Missing(vec!["x".to_owned(), "y".to_owned()])),
            ),
            (
                "f() missing 1 required keyword-only argument: 'x'",
                call("f", Misfit::Missing(vec!["x".to_owned()])),
            ),
            (
                "__init__() takes 1 positional argument but 2 were given",
                None,
            ),
            ("unsupported operand type(s) for +: 'int' and 'str'", None),
            ("f() argument after * must be an iterable, not int", None),
        ] {
            assert_eq!(Hint::of("TypeError", message), expected, "{message}");
        }
    }

    #[test]
    fn calls_are_made_to_fit() {
        #[track_caller]
        fn check(text: &str, message: &str, expected: &str) {
            let program = Program::parse(text).unwrap();
            let hint = Hint::of("TypeError", message).unwrap();
            // The first statement of all goes, as what the failure came of.
            let wider = hint
                .widen(&program, &EditSet::removal(ItemId { row: 0, item: 0 }))
                .unwrap();
            assert_eq!(wider.apply(&program).unwrap(), expected);
        }
        check(
            "0\nf(1, 2, k=3)\na.f(4)\n",
            "f() takes 0 positional arguments but 1 was given",
            "f(1, k=3)\na.f()\n",
        );
        check("0\nA(1, k=2)\n", "A() takes no arguments", "A()\n");
        check(
            "0\nf(1, k=2)\n",
            "f() got an unexpected keyword argument 'k'",
            "f(1)\n",
        );
        check(
            "0\nclass A:\n    def __init__(self, x, y): pass\n",
            "A.__init__() missing 1 required positional argument: 'y'",
            "class A:\n    def __init__(self, x): pass\n",
        );
    }

    #[test]
    fn statements_that_mention_it_go_too() {
        let program = Program::parse("a.w = 1\nif x:\n    print(a.w)\n    y = a.v\n").unwrap();
        let edits = EditSet::removal(ItemId { row: 0, item: 0 });
        let wider = Hint::Attribute("w".to_owned())
            .widen(&program, &edits)
            .unwrap();
        assert_eq!(wider.apply(&program).unwrap(), "if x:\n    y = a.v\n");
        assert_eq!(
            Hint::Attribute("u".to_owned()).widen(&program, &edits),
            None
        );
    }
}
