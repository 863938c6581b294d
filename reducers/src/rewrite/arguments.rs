//! Arguments: their removal by range or by parameter, and values that replace uses of parameters.
//! [`crate::analysis::calls`] decides which argument belongs to which parameter. Called by passes.

use std::collections::BTreeMap;

use crate::{
    analysis::calls::{Site, given, spreads},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::{as_primary, is_atom, one_logical_line, parentheses},
    },
    syntax::{
        Program, Ranged, TextRange, TextSize,
        ast::{self, Expr},
        rows::{ItemId, RowKind},
    },
};

/// The argument, or base class, of exactly this range.
pub(crate) fn argument_item(program: &Program, range: TextRange) -> Option<ItemId> {
    let mut items = program.items();
    items
        .find(|(_, row, item)| row.kind == RowKind::Arguments && *item == range)
        .map(|(id, ..)| id)
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
        for (id, row, range) in program.items() {
            let map = match row.kind {
                RowKind::Parameters => &mut places.parameters,
                RowKind::Arguments => &mut places.arguments,
                _ => continue,
            };
            map.insert(range.start(), id);
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

    /// Adds the removal of the values that calls pass for a parameter.
    pub(crate) fn drop_arguments(
        &self,
        calls: &[&ast::ExprCall],
        name: &str,
        position: usize,
        edits: &mut EditSet,
    ) {
        for call in calls {
            if let Some((start, _)) = given(call, name, position).argument()
                && let Some(argument) = self.argument(start)
            {
                edits.remove(argument);
            }
        }
    }

    fn within(&self, map: &BTreeMap<TextSize, ItemId>, offset: TextSize) -> Option<ItemId> {
        let (_, &id) = map.range(..=offset).next_back()?;
        let range = self.program.item(id);
        range.contains_inclusive(offset).then_some(id)
    }
}

/// The treatment of the arguments of all parameters but the first few: lines that assign some to
/// their parameters, and uses of parameters in the body that the others replace.
pub(crate) fn substituted(
    program: &Program,
    def: &ast::StmtFunctionDef,
    site: &Site<'_>,
    skipped: usize,
) -> Option<(Vec<String>, Vec<Edit>)> {
    let mut assigned = Vec::new();
    let mut substituted = Vec::new();
    let shift = skipped.max(usize::from(site.receiver.is_some()));
    let parameters = def.parameters.iter_non_variadic_params().enumerate();
    for (position, parameter) in parameters.skip(skipped) {
        let argument = match (position, site.call) {
            (0, _) if site.receiver.is_some() => site.receiver,
            (_, Some(call)) if spreads(call) => return None,
            (_, Some(call)) => given(call, parameter.name(), position - shift)
                .argument()
                .map(|(_, value)| value),
            (_, None) => None,
        };
        let value = argument.or(parameter.default.as_deref())?;
        let name = parameter.name();
        let text = program.slice(value.range());
        if text == name.as_str() {
            continue;
        }
        let variable = program.scopes().bound_at(name.start())?;
        let is_constant = variable.bindings.len() == 1;
        if is_constant && (is_path(value) || (variable.uses.len() <= 1 && !text.contains('\n'))) {
            let text = as_primary(value, text);
            substituted.extend(
                variable
                    .uses
                    .iter()
                    .map(|used| Edit::replace(used.range, text.clone())),
            );
        } else {
            assigned.push(format!("{name} = {}", one_logical_line(text)));
        }
    }
    Some((assigned, substituted))
}

/// Whether an expression is a name or a constant, or an attribute of one: it can be written where
/// another variable of the parameter's name is in use.
fn is_path(mut value: &Expr) -> bool {
    while let Expr::Attribute(attribute) = value {
        value = &attribute.value;
    }
    is_atom(value)
}

/// Replaces each of some uses with a value. `None` if the value does not fit into a formatted
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
