use std::collections::BTreeMap;

use crate::{
    analysis::{
        calls::{Calls, annotated, class_around, fields},
        special_names::has_given_parameters,
        statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::Places,
        edit::{Edit, EditSet},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{self, AnyParameterRef, Expr, Parameters, StmtClassDef, StmtFunctionDef},
        rows::{ItemId, RowKind},
    },
};

pass! {
    /// Removes parameters, and fields with a type, together with the arguments at every call and the
    /// data for such a field.
    ///
    /// ```python before
    /// def f(a, b):
    ///     return a
    /// f(1, 2)
    /// ```
    /// ```python after
    /// def f(a):
    ///     return a
    /// f(1)
    /// ```
    pub(crate) static DROP_PARAMETERS = Pass { stage: Stage::Shape, propose };
}

/// A position at which no call gives anything.
const BY_NAME: usize = 1 << 20;

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let places = Places::of(cx.program);
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    let calls = Calls::of(tree);
    let entries = entries(cx.program);
    for node in tree.nodes.iter().rev() {
        match node.node {
            AnyNodeRef::StmtFunctionDef(def) => {
                of_function(
                    tree,
                    &places,
                    &calls,
                    def,
                    class_around(tree, node.parent),
                    out,
                );
            }
            AnyNodeRef::ExprLambda(ast::ExprLambda {
                parameters: Some(parameters),
                ..
            }) => {
                for parameter in &**parameters {
                    if let Some(edits) = without(&places, parameters, parameter) {
                        let note = format!("parameter `{}` of a lambda", parameter.name());
                        out.propose(edits, Prior::Even, note);
                    }
                }
            }
            AnyNodeRef::StmtClassDef(class) => {
                let calls = calls.of_class(class.name.as_str());
                let is_by_position = !fields(class).is_empty();
                for (position, (name, field)) in annotated(class).enumerate() {
                    let Some(place) = statements.place(field.range) else {
                        continue;
                    };
                    let alone = EditSet::removal(place);
                    let mut edits = alone.clone();
                    let position = if is_by_position { position } else { BY_NAME };
                    places.drop_arguments(&calls, name, position, &mut edits);
                    // Where no call gives it, data may.
                    if edits == alone {
                        for &entry in entries.get(name).into_iter().flatten() {
                            edits.remove(entry);
                        }
                    }
                    // Without arguments it is a statement like any other.
                    if edits != alone {
                        out.propose(
                            edits,
                            Prior::Even,
                            format!("field `{name}` of `{}`", class.name),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

/// The entries of dictionaries whose keys are texts, by these.
fn entries(program: &Program) -> BTreeMap<&str, Vec<ItemId>> {
    let starts = program.items();
    let starts = starts.filter(|(_, row, _)| row.kind == RowKind::Entries);
    let starts: BTreeMap<TextSize, ItemId> =
        starts.map(|(id, _, range)| (range.start(), id)).collect();
    let mut found: BTreeMap<&str, Vec<ItemId>> = BTreeMap::new();
    let nodes = program.tree().nodes.iter();
    for entry in nodes
        .filter_map(|node| node.node.as_expr_dict())
        .flat_map(|dict| &dict.items)
    {
        let key = entry.key.as_ref();
        if let Some(Expr::StringLiteral(name)) = key
            && let Some(id) = starts.get(&name.range.start())
        {
            found.entry(name.value.to_str()).or_default().push(*id);
        }
    }
    found
}

/// The parameters of a function, and of the functions that are called with the same arguments.
fn of_function(
    tree: &Tree<'_>,
    places: &Places<'_>,
    calls: &Calls<'_>,
    def: &StmtFunctionDef,
    class: Option<&StmtClassDef>,
    out: &mut Proposals,
) {
    if class.is_some() && has_given_parameters(&def.name) {
        return;
    }
    let (alike, handing_on) = match class {
        Some(_) => (Vec::new(), Vec::new()),
        None => (followers(tree, def.name.as_str()), calls.handing_on(def)),
    };
    let calls = calls.of_function(def, class);
    let receiver = usize::from(class.is_some());
    let other = class.and_then(|class| other_constructor(class, def));
    let at = |def: &StmtFunctionDef, position: usize| {
        let parameter = def.parameters.iter_non_variadic_params().nth(position)?;
        without(
            places,
            &def.parameters,
            AnyParameterRef::NonVariadic(parameter),
        )
    };
    for (position, parameter) in def.parameters.iter().enumerate().skip(receiver) {
        let Some(mut edits) = without(places, &def.parameters, parameter) else {
            continue;
        };
        let name = parameter.name();
        let note = format!("parameter `{name}` of `{}`", def.name);
        if !parameter.is_variadic() {
            places.drop_arguments(&calls, name, position - receiver, &mut edits);
            edits.extend(
                &other
                    .and_then(|other| at(other, position))
                    .unwrap_or_default(),
            );
            // The text does not tell whether those have to be removed, too.
            let mut more = edits.clone();
            for def in &alike {
                more.extend(&at(def, position).unwrap_or_default());
            }
            for (call, before) in &handing_on {
                places.drop_arguments(&[*call], name, position + before, &mut more);
            }
            if more != edits {
                out.propose(more, Prior::Even, note.clone());
            }
        }
        out.propose(edits, Prior::Even, note);
    }
}

/// The functions that are called with the arguments of another because an attribute of that one
/// decorates them: `@other.register`.
fn followers<'a>(tree: &Tree<'a>, name: &str) -> Vec<&'a StmtFunctionDef> {
    let is_part = |expr: &Expr| {
        let part = match expr {
            Expr::Call(call) => &*call.func,
            _ => expr,
        };
        let owner = part
            .as_attribute_expr()
            .and_then(|attribute| attribute.value.as_name_expr());
        owner.is_some_and(|owner| owner.id == name)
    };
    let functions = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(it) => Some(it),
        _ => None,
    });
    functions
        .filter(|function| {
            function
                .decorator_list
                .iter()
                .any(|decorator| is_part(&decorator.expression))
        })
        .collect()
}

/// The other one of the two functions that a call of a class calls, with the same arguments.
fn other_constructor<'a>(
    class: &'a StmtClassDef,
    def: &StmtFunctionDef,
) -> Option<&'a StmtFunctionDef> {
    let name = match def.name.as_str() {
        "__init__" => "__new__",
        "__new__" => "__init__",
        _ => return None,
    };
    class.body.iter().find_map(|statement| {
        statement
            .as_function_def_stmt()
            .filter(|method| method.name.as_str() == name)
    })
}

/// The removal of a parameter. Of `*rest` the star stays if only keywords follow it.
fn without(
    places: &Places<'_>,
    parameters: &Parameters,
    parameter: AnyParameterRef<'_>,
) -> Option<EditSet> {
    let inner = parameter.as_parameter();
    let is_vararg = parameters
        .vararg
        .as_deref()
        .is_some_and(|parameter| parameter.range == inner.range);
    if is_vararg && !parameters.kwonlyargs.is_empty() {
        return Some(EditSet::one(Edit::delete(TextRange::new(
            inner.name.start(),
            inner.end(),
        ))));
    }
    let place = places.parameter(inner.name.range.start())?;
    Some(EditSet::removal(place))
}

#[cfg(test)]
mod tests {
    use super::DROP_PARAMETERS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn arguments_go_with_their_parameter() {
        check_edits(
            &DROP_PARAMETERS,
            "def f(a, b): pass\nf(1, 2)\nf(b=2, a=1)\n",
            &[
                "def f(b): pass\nf(2)\nf(b=2)\n",
                "def f(a): pass\nf(1)\nf(a=1)\n",
            ],
        );
    }

    #[test]
    fn data_go_with_their_field() {
        check_edits(
            &DROP_PARAMETERS,
            "class A(B):\n    x: int\n    y: str\nA(x=1)\nload(A, {'x': 1, 'y': 'a'})\n",
            &[
                "class A(B):\n    y: str\nA()\nload(A, {'x': 1, 'y': 'a'})\n",
                "class A(B):\n    x: int\nA(x=1)\nload(A, {'x': 1})\n",
            ],
        );
    }

    #[test]
    fn methods_that_the_interpreter_calls_keep_theirs() {
        check_none(
            &DROP_PARAMETERS,
            "class A(type):\n    def __getattribute__(cls, name): pass\n    def __exit__(self, *a): pass\n",
        );
    }

    #[test]
    fn methods_and_constructors() {
        check_all(
            &DROP_PARAMETERS,
            "class A:\n    def __init__(self, x): pass\n    def m(self, y, *, z=1): pass\nA(1).m(2, z=3)\n",
            "class A:\n    def __init__(self): pass\n    def m(self): pass\nA().m()\n",
        );
    }

    #[test]
    fn both_constructors_are_given_the_same() {
        check_edits(
            &DROP_PARAMETERS,
            "class A:\n    def __new__(cls, x, y): pass\n    def __init__(self, x, z): pass\n    def m(cls): cls(1, 2)\nA(1, y=2)\n",
            &[
                "class A:\n    def __new__(cls, y): pass\n    def __init__(self, z): pass\n    def m(cls): cls(2)\nA(y=2)\n",
                "class A:\n    def __new__(cls, x): pass\n    def __init__(self, x): pass\n    def m(cls): cls(1)\nA(1, y=2)\n",
                "class A:\n    def __new__(cls, y): pass\n    def __init__(self, z): pass\n    def m(cls): cls(2)\nA(y=2)\n",
                "class A:\n    def __new__(cls, x): pass\n    def __init__(self, x): pass\n    def m(cls): cls(1)\nA(1)\n",
            ],
        );
    }

    #[test]
    fn arguments_may_be_handed_on() {
        check_edits(
            &DROP_PARAMETERS,
            "def f(a, b): pass\nsubmit(1, f, 2, b=3)\npartial(f)(4, 5)\n",
            &[
                "def f(b): pass\nsubmit(1, f, b=3)\npartial(f)(5)\n",
                "def f(b): pass\nsubmit(1, f, 2, b=3)\npartial(f)(4, 5)\n",
                "def f(a): pass\nsubmit(1, f, 2)\npartial(f)(4)\n",
                "def f(a): pass\nsubmit(1, f, 2, b=3)\npartial(f)(4, 5)\n",
            ],
        );
    }

    #[test]
    fn what_is_registered_with_a_function_is_called_like_it() {
        check_edits(
            &DROP_PARAMETERS,
            "@op('a')\ndef f(a, b): pass\n@f.register_fake\ndef _(x, y): pass\nrun(f)(1, 2)\n",
            &[
                "@op('a')\ndef f(a, b): pass\n@f.register_fake\ndef _(y): pass\nrun(f)(1, 2)\n",
                "@op('a')\ndef f(a, b): pass\n@f.register_fake\ndef _(x): pass\nrun(f)(1, 2)\n",
                "@op('a')\ndef f(b): pass\n@f.register_fake\ndef _(y): pass\nrun(f)(2)\n",
                "@op('a')\ndef f(b): pass\n@f.register_fake\ndef _(x, y): pass\nrun(f)(1, 2)\n",
                "@op('a')\ndef f(a): pass\n@f.register_fake\ndef _(x): pass\nrun(f)(1)\n",
                "@op('a')\ndef f(a): pass\n@f.register_fake\ndef _(x, y): pass\nrun(f)(1, 2)\n",
            ],
        );
    }

    #[test]
    fn fields_of_dataclasses() {
        check_edits(
            &DROP_PARAMETERS,
            "@dataclass\nclass A:\n    x: int\n    y: int = 0\nA(1, y=2)\n",
            &[
                "@dataclass\nclass A:\n    y: int = 0\nA(y=2)\n",
                "@dataclass\nclass A:\n    x: int\nA(1)\n",
            ],
        );
    }

    #[test]
    fn stars_stay_for_keywords() {
        check_edits(
            &DROP_PARAMETERS,
            "lambda a=1, *b, c: 0\n",
            &[
                "lambda *b, c: 0\n",
                "lambda a=1, *, c: 0\n",
                "lambda a=1, *b: 0\n",
            ],
        );
        check_edits(
            &DROP_PARAMETERS,
            "def f(a, /,): pass\n",
            &["def f(): pass\n"],
        );
    }

    #[test]
    fn self_stays() {
        check_none(
            &DROP_PARAMETERS,
            "class A:\n    def m(self): pass\ndef f(): pass\n",
        );
    }
}
