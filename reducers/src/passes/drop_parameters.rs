use std::collections::BTreeMap;

use crate::{
    edit::{Edit, EditSet, Removal},
    list::ListKind,
    pass::{Cx, Prior, Proposals, Stage, pass},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{self, Expr},
    },
};

pass! {
    /// Removes parameters together with the arguments at every call.
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

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let places = Places::of(cx.program);
    let tree = cx.program.tree();
    let calls: Vec<&ast::ExprCall> = tree
        .nodes
        .iter()
        .filter_map(|node| if let AnyNodeRef::ExprCall(call) = node.node { Some(call) } else { None })
        .collect();
    for node in tree.nodes.iter().rev() {
        let def = match node.node {
            AnyNodeRef::StmtFunctionDef(def) => def,
            AnyNodeRef::ExprLambda(ast::ExprLambda { parameters: Some(parameters), .. }) => {
                for parameter in &**parameters {
                    if let Some(edits) = places.without(parameters, parameter) {
                        let note = format!("parameter `{}` of a lambda", parameter.name());
                        out.propose(edits, Prior::Even, note);
                    }
                }
                continue;
            }
            _ => continue,
        };
        let class = node.parent.map(|at| tree.nodes[at as usize].node).and_then(|parent| match parent {
            AnyNodeRef::StmtClassDef(class) => Some(class.name.as_str()),
            _ => None,
        });
        let calls = calls_of(&calls, def, class);
        for (position, parameter) in def.parameters.iter().enumerate() {
            if class.is_some() && position == 0 {
                continue;
            }
            let Some(mut edits) = places.without(&def.parameters, parameter) else { continue };
            let offset = usize::from(class.is_some());
            for call in &calls {
                for argument in arguments_for(call, parameter, position - offset) {
                    if let Some(place) = places.argument(argument) {
                        edits.remove(place.list, place.item);
                    }
                }
            }
            let note = format!("parameter `{}` of {}", parameter.name(), def.name);
            out.propose(edits, Prior::Even, note);
        }
    }
}

/// The calls of a function by its name, of a method by its attribute, of `__init__` by its class.
fn calls_of<'a>(
    calls: &[&'a ast::ExprCall],
    def: &ast::StmtFunctionDef,
    class: Option<&str>,
) -> Vec<&'a ast::ExprCall> {
    let name = def.name.as_str();
    let is_ours = |call: &&&ast::ExprCall| match (&*call.func, class) {
        (Expr::Name(called), None) => called.id == name,
        (Expr::Name(called), Some(class)) => name == "__init__" && called.id == class,
        (Expr::Attribute(called), Some(_)) => called.attr.as_str() == name,
        _ => false,
    };
    calls.iter().filter(is_ours).copied().collect()
}

/// Where the arguments start that a call gives for a parameter.
fn arguments_for(
    call: &ast::ExprCall,
    parameter: ast::AnyParameterRef<'_>,
    position: usize,
) -> Vec<TextSize> {
    let arguments = &call.arguments;
    let mut found: Vec<TextSize> = arguments
        .keywords
        .iter()
        .filter(|keyword| keyword.arg.as_ref().is_some_and(|name| name.id == parameter.name().id))
        .map(Ranged::start)
        .collect();
    let starred = arguments.args.iter().take(position + 1).any(Expr::is_starred_expr);
    if found.is_empty()
        && !starred
        && !parameter.is_variadic()
        && let Some(argument) = arguments.args.get(position)
    {
        found.push(argument.start());
    }
    found
}

/// Parameters and arguments by where they start.
struct Places<'a> {
    program: &'a Program,
    parameters: BTreeMap<TextSize, Removal>,
    arguments: BTreeMap<TextSize, Removal>,
}

impl<'a> Places<'a> {
    fn of(program: &'a Program) -> Self {
        let mut places = Self { program, parameters: BTreeMap::new(), arguments: BTreeMap::new() };
        for (list, row) in program.lists().iter().enumerate() {
            let map = match row.kind {
                ListKind::Parameters => &mut places.parameters,
                ListKind::Arguments => &mut places.arguments,
                _ => continue,
            };
            for (item, range) in row.items.iter().enumerate() {
                map.insert(range.start(), Removal { list: list as u32, item: item as u32 });
            }
        }
        places
    }

    /// The removal of a parameter. Of `*rest` the star stays if only keywords follow it.
    fn without(&self, parameters: &ast::Parameters, parameter: ast::AnyParameterRef<'_>) -> Option<EditSet> {
        let inner = parameter.as_parameter();
        if parameters.vararg.as_deref().is_some_and(|it| it.range == inner.range)
            && !parameters.kwonlyargs.is_empty()
        {
            return Some(EditSet::one(Edit::delete(TextRange::new(inner.name.start(), inner.end()))));
        }
        let place = self.parameter(inner.name.range.start())?;
        Some(EditSet::removal(place.list, place.item))
    }

    /// The item that holds the name at this offset.
    fn parameter(&self, name: TextSize) -> Option<Removal> {
        self.within(&self.parameters, name)
    }

    fn argument(&self, start: TextSize) -> Option<Removal> {
        self.within(&self.arguments, start)
    }

    fn within(&self, map: &BTreeMap<TextSize, Removal>, offset: TextSize) -> Option<Removal> {
        let (_, &place) = map.range(..=offset).next_back()?;
        let range = self.program.lists()[place.list as usize].items[place.item as usize];
        range.contains_inclusive(offset).then_some(place)
    }
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
            &["def f(b): pass\nf(2)\nf(b=2)\n", "def f(a): pass\nf(1)\nf(a=1)\n"],
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
    fn self_stays() {
        check_none(&DROP_PARAMETERS, "class A:\n    def m(self): pass\ndef f(): pass\n");
    }
}
