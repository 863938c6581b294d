//! Calls and what they call: which arguments belong to which parameter, and which expressions mean
//! the same wherever they stand. Goes by names alone; a candidate run tells whether that was right.
//! Called by passes.

use crate::{
    rewrite::{
        edit::{Edit, EditSet, ItemId},
        parenthesize::parentheses,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{self, Expr, Stmt},
        rows::RowKind,
        scope::ScopeKind,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// All calls of a program.
pub(crate) struct Calls<'a>(Vec<&'a ast::ExprCall>);

impl<'a> Calls<'a> {
    pub(crate) fn of(tree: &Tree<'a>) -> Self {
        let calls = tree.nodes.iter().filter_map(|node| match node.node {
            AnyNodeRef::ExprCall(call) => Some(call),
            _ => None,
        });
        Self(calls.collect())
    }

    /// The calls of a function by its name, of a method by its attribute, of constructors by their
    /// class.
    pub(crate) fn of_function(
        &self,
        def: &ast::StmtFunctionDef,
        class: Option<&ast::StmtClassDef>,
    ) -> Vec<&'a ast::ExprCall> {
        let name = def.name.as_str();
        let is_constructor = matches!(name, "__init__" | "__new__");
        let is_ours = |call: &&&ast::ExprCall| match (&*call.func, class) {
            (Expr::Name(called), None) => called.id == name,
            (Expr::Name(called), Some(class)) => {
                let is_own = called.id == "cls" && class.range.contains_range(called.range);
                is_constructor && (is_own || called.id == class.name.id)
            }
            (Expr::Attribute(called), Some(class)) => {
                // What a class asks of `super()` is not its own.
                let of_super = matches!(&*called.value, Expr::Call(it) if matches!(&*it.func, Expr::Name(it) if it.id == "super"));
                called.attr.as_str() == name
                    && !(of_super && class.range.contains_range(called.range))
            }
            _ => false,
        };
        self.0.iter().filter(is_ours).copied().collect()
    }

    /// The calls that may hand a function on, with how many of the arguments come before those of
    /// the function: those that are given the function, and those of what such a call makes.
    pub(crate) fn handing_on(&self, def: &ast::StmtFunctionDef) -> Vec<(&'a ast::ExprCall, usize)> {
        let is_it = |expr: &Expr| matches!(expr, Expr::Name(it) if it.id == def.name.id);
        let position = |call: &ast::ExprCall| call.arguments.args.iter().position(is_it);
        let found = self
            .0
            .iter()
            .filter_map(|call| match (position(call), &*call.func) {
                (Some(position), _) => Some((*call, position + 1)),
                (None, Expr::Call(maker)) => position(maker).map(|_| (*call, 0)),
                _ => None,
            });
        found.collect()
    }

    /// The calls of a class by its name.
    pub(crate) fn of_class(&self, class: &str) -> Vec<&'a ast::ExprCall> {
        let is_ours = |call: &&&ast::ExprCall| {
            call.func
                .as_name_expr()
                .is_some_and(|name| name.id == class)
        };
        self.0.iter().filter(is_ours).copied().collect()
    }
}

/// What a call gives for a parameter: where the argument starts, and its value.
pub(crate) fn argument<'a>(
    call: &'a ast::ExprCall,
    name: &str,
    position: usize,
) -> Option<(TextSize, &'a Expr)> {
    let arguments = &call.arguments;
    let named = |keyword: &&ast::Keyword| keyword.arg.as_ref().is_some_and(|it| it.id == name);
    if let Some(keyword) = arguments.keywords.iter().find(named) {
        return Some((keyword.start(), &keyword.value));
    }
    let is_spread = arguments
        .args
        .iter()
        .take(position + 1)
        .any(Expr::is_starred_expr);
    arguments
        .args
        .get(position)
        .filter(|_| !is_spread)
        .map(|value| (value.start(), value))
}

/// The class that a node is a direct part of.
pub(crate) fn class_around<'a>(
    tree: &Tree<'a>,
    parent: Option<u32>,
) -> Option<&'a ast::StmtClassDef> {
    match tree.nodes[parent? as usize].node {
        AnyNodeRef::StmtClassDef(class) => Some(class),
        _ => None,
    }
}

/// The fields of a class whose constructor is made of them: a dataclass or a named tuple.
pub(crate) fn fields(class: &ast::StmtClassDef) -> Vec<(&str, &ast::StmtAnnAssign)> {
    let names = |expr: &Expr, wanted: &str| match expr {
        Expr::Name(it) => it.id == wanted,
        Expr::Attribute(it) => it.attr.as_str() == wanted,
        _ => false,
    };
    let is_dataclass = class
        .decorator_list
        .iter()
        .any(|decorator| match &decorator.expression {
            Expr::Call(call) => names(&call.func, "dataclass"),
            plain => names(plain, "dataclass"),
        });
    if !is_dataclass && !class.bases().iter().any(|base| names(base, "NamedTuple")) {
        return Vec::new();
    }
    let fields = class.body.iter().filter_map(|stmt| match stmt {
        Stmt::AnnAssign(field) => Some((field.target.as_name_expr()?.id.as_str(), field)),
        _ => None,
    });
    fields.collect()
}

/// Where parameters and arguments stand in their rows.
pub(crate) struct Places<'a> {
    program: &'a Program,
    parameters: BTreeMap<TextSize, ItemId>,
    arguments: BTreeMap<TextSize, ItemId>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        let mut places = Self {
            program,
            parameters: BTreeMap::new(),
            arguments: BTreeMap::new(),
        };
        for (index, row) in program.rows().iter().enumerate() {
            let map = match row.kind {
                RowKind::Parameters => &mut places.parameters,
                RowKind::Arguments => &mut places.arguments,
                _ => continue,
            };
            for (item, range) in row.items.iter().enumerate() {
                map.insert(
                    range.start(),
                    ItemId {
                        row: index as u32,
                        item: item as u32,
                    },
                );
            }
        }
        places
    }

    /// The item that holds the name at this offset.
    pub(crate) fn parameter(&self, name: TextSize) -> Option<ItemId> {
        self.within(&self.parameters, name)
    }

    /// The item that holds the argument that starts at this offset.
    pub(crate) fn argument(&self, start: TextSize) -> Option<ItemId> {
        self.within(&self.arguments, start)
    }

    /// Adds the removal of what calls give for a parameter.
    pub(crate) fn drop_arguments(
        &self,
        calls: &[&ast::ExprCall],
        name: &str,
        position: usize,
        edits: &mut EditSet,
    ) {
        for call in calls {
            if let Some((start, _)) = argument(call, name, position)
                && let Some(place) = self.argument(start)
            {
                edits.remove(place.row, place.item);
            }
        }
    }

    fn within(&self, map: &BTreeMap<TextSize, ItemId>, offset: TextSize) -> Option<ItemId> {
        let (_, &place) = map.range(..=offset).next_back()?;
        let range = self.program.rows()[place.row as usize].items[place.item as usize];
        range.contains_inclusive(offset).then_some(place)
    }
}

/// Which values mean the same in every place of a program.
pub(crate) struct Movable<'t> {
    tree: &'t Tree<'t>,
    /// Uses of names that belong to a function, a class, or are bound more than once.
    local: BTreeSet<TextSize>,
    /// Names that some function or class binds for itself.
    shadowed: BTreeSet<&'t str>,
}

impl<'t> Movable<'t> {
    pub(crate) fn of(program: &'t Program, tree: &'t Tree<'t>) -> Self {
        let (mut local, mut shadowed) = (BTreeSet::new(), BTreeSet::new());
        for variable in &program.scopes().variables {
            if variable.scope != ScopeKind::Module {
                shadowed.insert(variable.name.as_str());
            }
            if variable.scope != ScopeKind::Module || variable.bindings.len() > 1 {
                local.extend(variable.uses.iter().map(|it| it.range.start()));
            }
        }
        Self {
            tree,
            local,
            shadowed,
        }
    }

    /// Whether a value could stand in so many places, wherever they are. What makes something new
    /// each time can stand only once.
    pub(crate) fn allows(&self, value: &Expr, times: usize) -> bool {
        if value.is_literal_expr() {
            return true;
        }
        let is_shared = matches!(value, Expr::Name(_) | Expr::Attribute(_) | Expr::UnaryOp(_));
        let nodes = &self.tree.nodes;
        let first = nodes.partition_point(|node| node.node.start() < value.start());
        let mut inside = nodes[first..]
            .iter()
            .take_while(|node| node.node.start() < value.end());
        (is_shared || times <= 1)
            && inside.all(|node| match node.node {
                AnyNodeRef::ExprName(name) => {
                    !self.local.contains(&name.start()) && !self.shadowed.contains(name.id.as_str())
                }
                AnyNodeRef::ExprLambda(_)
                | AnyNodeRef::Comprehension(_)
                | AnyNodeRef::ExprNamed(_)
                | AnyNodeRef::ExprAwait(_)
                | AnyNodeRef::ExprYield(_)
                | AnyNodeRef::ExprYieldFrom(_)
                | AnyNodeRef::ExprStarred(_) => false,
                _ => true,
            })
    }
}

/// Puts a value in the place of each of some uses; `None` where it does not fit into a formatted
/// string.
pub(crate) fn put(
    program: &Program,
    strings: &[TextRange],
    value: &Expr,
    places: impl IntoIterator<Item = TextRange>,
    edits: &mut EditSet,
) -> Option<()> {
    let fits_in_string = matches!(
        value,
        Expr::Name(_) | Expr::NumberLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_)
    );
    let text = program.slice(value.range());
    for place in places {
        if !fits_in_string && strings.iter().any(|string| string.contains_range(place)) {
            return None;
        }
        let (open, close) = parentheses(program, value, place);
        edits.edit(Edit::replace(place, format!("{open}{text}{close}")));
    }
    Some(())
}

/// The ranges of all formatted strings: quotes and braces of a value may not fit into them.
pub(crate) fn formatted_strings(tree: &Tree<'_>) -> Vec<TextRange> {
    let strings = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprFString(_) | AnyNodeRef::ExprTString(_) => Some(node.node.range()),
        _ => None,
    });
    strings.collect()
}
