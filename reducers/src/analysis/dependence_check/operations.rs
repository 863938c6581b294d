//! The operations, constants and foreign names that nodes of a program stand for. Called by the
//! rest of the dependence check.

use std::{borrow::Cow, collections::BTreeSet};

use super::{FOR_EFFECT, Rest, effects::only_reads, passing::is_object};
use crate::{
    analysis::{
        assignments::{assigned_values, is_empty, values_of},
        calls::reads_command_line,
        statement_tree::{is_changing, is_in_place},
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{CmpOp, Expr, ExprBinOp, ExprCall, Number, Operator, UnaryOp},
        scope::{BindingKind, ScopeKind},
    },
};

/// The name of what is written out with a part that holds nothing.
pub const EMPTY_PART: &str = "empty part";

/// The name of what was made empty and not filled, though there is code that would have.
pub(super) const UNFILLED: &str = "not filled";

/// Through how many variables and operations a constant is followed.
const DEPTH: usize = 6;

/// Whether an expression is one of the language's constants of which there is one each.
fn is_singleton(expr: &Expr) -> bool {
    expr.is_none_literal_expr() || expr.is_boolean_literal_expr() || expr.is_ellipsis_literal_expr()
}

/// The text of a node, if it is a constant.
pub(crate) fn constant<'a>(program: &'a Program, node: AnyNodeRef<'_>) -> Option<&'a str> {
    let is_constant = node.is_expr_number_literal()
        || node.is_expr_string_literal()
        || node.is_expr_bytes_literal()
        || node.is_expr_boolean_literal()
        || node.is_expr_none_literal();
    is_constant.then(|| program.slice(node.range()))
}

impl Rest<'_, '_> {
    /// The text of a node, if it is a constant.
    pub(super) fn literal(&self, node: AnyNodeRef<'_>) -> Option<String> {
        constant(self.outline.program, node).map(str::to_owned)
    }

    /// The last part of the name that a node reads, unless the program binds it.
    pub(super) fn foreign_name(&self, node: AnyNodeRef<'_>) -> Option<String> {
        match node {
            AnyNodeRef::ExprName(name) => {
                let mut named = self.outline.program.scopes().named(&name.id);
                let is_own = named.next().is_some();
                (!is_own).then(|| name.id.to_string())
            }
            AnyNodeRef::ExprAttribute(attribute) => {
                let name = attribute.attr.as_str();
                let is_own = !self.graph.members(name).is_empty()
                    || self.graph.stores(name).next().is_some();
                (!is_own).then(|| name.to_owned())
            }
            _ => None,
        }
    }

    /// The operation of a node of a statement, unless it calls one of the program's own functions.
    pub(super) fn operation(&self, node: AnyNodeRef<'_>, statement: usize) -> Vec<String> {
        match node {
            AnyNodeRef::ExprCall(call) => {
                let handed = self.handed_classes(call, statement);
                let own = self.call(call, statement).into_iter();
                // To strip something is another thing than to strip white space.
                let given = own.clone().filter(|_| self.is_making() && is_given(call));
                let given = given.map(|call| call.replacen("()", "(_)", 1));
                let empty = call.arguments.args.iter().any(is_empty) && self.is_making();
                let empty = empty.then(|| EMPTY_PART.to_owned());
                own.chain(given).chain(handed).chain(empty).collect()
            }
            _ if self.is_making() && holds_nothing(node) => vec![EMPTY_PART.to_owned()],
            // A computation with only literals is a literal itself.
            AnyNodeRef::ExprBinOp(it)
                if it.left.is_literal_expr() && it.right.is_literal_expr() =>
            {
                Vec::new()
            }
            // A difference compares, as `abs(x - y) > 0.1` does, so that of constants says nothing.
            AnyNodeRef::ExprBinOp(it)
                if it.op == Operator::Sub
                    && self.is_constant(&it.left, DEPTH)
                    && self.is_constant(&it.right, DEPTH) =>
            {
                Vec::new()
            }
            AnyNodeRef::ExprCompare(it)
                if it.left.is_literal_expr()
                    && it.comparators.iter().all(Expr::is_literal_expr) =>
            {
                Vec::new()
            }
            AnyNodeRef::ExprBinOp(it) if is_neutral(it.op, &it.right) => Vec::new(),
            AnyNodeRef::ExprBinOp(it) if self.is_making() && is_zero(it) => {
                vec![it.op.as_str().to_owned(), EMPTY_PART.to_owned()]
            }
            AnyNodeRef::ExprBinOp(it) => vec![it.op.as_str().to_owned()],
            // What a mask selects, its inverse leaves out.
            AnyNodeRef::ExprUnaryOp(it) if it.op == UnaryOp::Invert => {
                vec![it.op.as_str().to_owned()]
            }
            // A slice of everything leaves nothing out.
            AnyNodeRef::ExprSlice(it) if it.lower.is_none() && it.upper.is_none() => Vec::new(),
            AnyNodeRef::ExprSlice(_) => vec!["[:]".to_owned()],
            AnyNodeRef::ExprBoolOp(it) if self.is_making() => vec![it.op.as_str().to_owned()],
            AnyNodeRef::ExprIf(it) => self.truth(&it.test, statement),
            AnyNodeRef::ExprCompare(it) => {
                // Whether something is `None` is asked of what may be missing.
                let is_presence = |(operator, side): &(&CmpOp, &Expr)| {
                    matches!(operator, CmpOp::Is | CmpOp::IsNot) && is_singleton(side)
                };
                it.ops
                    .iter()
                    .zip(&it.comparators)
                    .filter(|pair| !is_presence(pair))
                    .map(|(operator, _)| operator.as_str().to_owned())
                    .collect()
            }
            _ => {
                let text = literal_text(node).filter(|_| self.is_making());
                text.map_or_else(Vec::new, |text| odd_letters(&text).into_iter().collect())
            }
        }
    }

    /// The operation of a condition that asks whether what another's function gave is true: that is up
    /// to the other.
    pub(super) fn truth(&self, condition: &Expr, statement: usize) -> Vec<String> {
        match condition {
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => self.truth(&it.operand, statement),
            Expr::Name(name) => {
                let program = self.outline.program;
                let mut reads = self.outline.statements[statement].reads.iter();
                let read = reads.find(|(_, range)| *range == name.range);
                let variable = read.map(|(variable, _)| &program.scopes().variables[*variable]);
                let values = variable.and_then(|variable| values_of(program, variable));
                let calls = values.into_iter().flatten().filter_map(Expr::as_call_expr);
                let given = calls.filter_map(|call| self.call(call, statement));
                given.map(|call| format!("bool({call})")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value is written out, or computed from such values, some variables away.
    fn is_constant(&self, value: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match value {
            Expr::UnaryOp(operation) => self.is_constant(&operation.operand, depth),
            Expr::BinOp(operation) => {
                self.is_constant(&operation.left, depth)
                    && self.is_constant(&operation.right, depth)
            }
            Expr::Name(name) => {
                let values = assigned_values(self.outline.program, &name.id);
                values.is_some_and(|values| {
                    let mut values = values.into_iter();
                    values.all(|value| self.is_constant(value, depth))
                })
            }
            value => value.is_literal_expr(),
        }
    }

    /// The operation of a call, unless it calls one of the program's own functions for its result.
    fn call(&self, call: &ExprCall, statement: usize) -> Option<String> {
        let node = self.outline.statements[statement].node;
        let is_alone = node
            .as_stmt_expr()
            .is_some_and(|stmt| stmt.value.range() == call.range);
        let object = || Some(format!("object(){FOR_EFFECT}")).filter(|_| is_alone);
        let (name, is_method) = match &*call.func {
            Expr::Name(name) => (&name.id, false),
            Expr::Attribute(attribute) => (&attribute.attr.id, true),
            Expr::Call(_) => return object(),
            // What a table holds is called whatever its name is.
            Expr::Subscript(_) => return Some("[]()".to_owned()),
            _ => return None,
        };
        let mut named = self.outline.program.scopes().named(name);
        let is_bound = named.any(|variable| {
            let mut bindings = variable.bindings.iter();
            bindings.any(|binding| binding.kind != BindingKind::Import)
                && is_method == (variable.scope == ScopeKind::Class)
        });
        let is_stored = is_method && self.graph.stores(name).next().is_some();
        if is_bound || is_stored {
            let is_object = if is_method {
                !is_bound
            } else {
                is_object(self.outline, name)
            };
            return object().filter(|_| is_object);
        }
        let is_input = reads_command_line(name) && !self.gives_command_line;
        // To do something so often is no computation, if nobody asks how often.
        let is_count = name == "range" && self.is_only_counted(call, statement);
        // A field of a class is declared, not computed.
        let is_declaration = node.is_stmt_ann_assign() && matches!(name.as_str(), "field" | "ib");
        // The call that fails or reports gives back nothing that anybody could use, so it makes no
        // difference whether its result has a name.
        let is_last = self.frames.last() == Some(&statement);
        let is_handing = self.handing.contains(&statement);
        let effect = if (is_alone && !is_last) || is_changing(name) || is_handing {
            FOR_EFFECT
        } else {
            ""
        };
        // To overwrite a part of a tensor is another thing than to overwrite all of it.
        let part = if is_in_place(name) && self.is_called_on_part(call) {
            "[]."
        } else {
            ""
        };
        (!is_input && !is_declaration && !is_count).then(|| format!("{part}{name}(){effect}"))
    }

    /// Whether a loop over a call reads none of its elements.
    fn is_only_counted(&self, call: &ExprCall, statement: usize) -> bool {
        let node = self.outline.statements[statement].node;
        let Some(each) = node.as_stmt_for() else {
            return false;
        };
        let scopes = self.outline.program.scopes();
        let mut bound = scopes.bound_by(each.range).iter();
        each.iter.range() == call.range
            && each.target.is_name_expr()
            && bound.all(|&variable| scopes.variables[variable].uses.is_empty())
    }

    /// The classes of the program that a statement does nothing but hand to a package, as in
    /// `resolve(A)`: what this does to one class, it doesn't do to another.
    fn handed_classes(&self, call: &ExprCall, statement: usize) -> Vec<String> {
        let stmt = self.outline.statements[statement].node.as_stmt_expr();
        let is_alone = stmt.is_some_and(|stmt| stmt.value.range() == call.range);
        let path = self.imported.path(&call.func);
        let name = path.as_deref().and_then(|path| path.rsplit('.').next());
        let is_last = self.frames.last() == Some(&statement);
        let Some(name) = name.filter(|name| is_alone && !is_last && !only_reads(name)) else {
            return Vec::new();
        };
        let arguments = call.arguments.arguments_source_order();
        let names = arguments.filter_map(|argument| argument.value().as_name_expr());
        let scopes = self.outline.program.scopes();
        let classes = names.filter(|class| scopes.is_class(&class.id));
        classes
            .map(|class| format!("{name}({})", class.id))
            .collect()
    }

    /// Whether a method is called on what an index selects, if need be by a name.
    fn is_called_on_part(&self, call: &ExprCall) -> bool {
        let method = call.func.as_attribute_expr();
        method.is_some_and(|method| match &*method.value {
            Expr::Subscript(_) => true,
            Expr::Name(name) => {
                let values = assigned_values(self.outline.program, &name.id);
                values.is_some_and(|values| values.iter().all(|value| value.is_subscript_expr()))
            }
            _ => false,
        })
    }
}
/// Whether a call is given something by position.
fn is_given(call: &ExprCall) -> bool {
    !call.arguments.args.is_empty()
}

/// Whether a product is nothing whatever one of its factors is.
fn is_zero(product: &ExprBinOp) -> bool {
    let is_zero = |factor: &Expr| {
        let number = factor.as_number_literal_expr();
        number.is_some_and(|number| match &number.value {
            Number::Int(value) => value.as_u8() == Some(0),
            Number::Float(value) => *value == 0.0,
            Number::Complex { .. } => false,
        })
    };
    product.op == Operator::Mult && (is_zero(&product.left) || is_zero(&product.right))
}

/// Whether a node is a display with a part that holds nothing.
fn holds_nothing(node: AnyNodeRef<'_>) -> bool {
    match node {
        AnyNodeRef::ExprDict(it) => it.items.iter().any(|item| is_empty(&item.value)),
        AnyNodeRef::ExprList(it) => it.elts.iter().any(is_empty),
        AnyNodeRef::ExprTuple(it) => it.elts.iter().any(is_empty),
        _ => false,
    }
}

/// The text of a literal.
fn literal_text(node: AnyNodeRef<'_>) -> Option<Cow<'_, str>> {
    match node {
        AnyNodeRef::ExprStringLiteral(it) => Some(Cow::Borrowed(it.value.to_str())),
        AnyNodeRef::ExprBytesLiteral(it) => {
            Some(it.value.bytes().map(char::from).collect::<String>().into())
        }
        AnyNodeRef::InterpolatedStringLiteralElement(it) => Some(Cow::Borrowed(&it.value)),
        _ => None,
    }
}

/// The kinds of letters in a text that are treated in ways of their own.
fn odd_letters(text: &str) -> BTreeSet<String> {
    // Texts that are patterns or templates say something else with these.
    const SPECIAL: &str = "[*?$%{\\^|";
    let odd = text
        .chars()
        .filter(|letter| !letter.is_ascii() || letter.is_control() || SPECIAL.contains(*letter));
    let kinds = odd.filter_map(|letter| match letter {
        '\n' | '\t' => None,
        '[' => Some("set"),
        '*' | '?' => Some("wildcard"),
        '$' | '%' | '{' => Some("place"),
        '\\' => Some("escape"),
        '^' | '|' => Some("pattern"),
        _ if letter.is_alphabetic() => Some("letter"),
        _ if letter.is_numeric() => Some("number"),
        _ if letter.is_whitespace() => Some("space"),
        _ if letter.is_control() => Some("control"),
        _ => Some("mark"),
    });
    kinds.map(|kind| format!("odd {kind}")).collect()
}

/// Whether an operation by some operand leaves a value as it is.
pub(super) fn is_neutral(operator: Operator, operand: &Expr) -> bool {
    let number = operand.as_number_literal_expr();
    let number = number.and_then(|number| number.value.as_int()?.as_u8());
    match operator {
        Operator::Add
        | Operator::Sub
        | Operator::BitOr
        | Operator::BitXor
        | Operator::LShift
        | Operator::RShift => number == Some(0),
        Operator::Mult | Operator::Div | Operator::FloorDiv | Operator::Pow => number == Some(1),
        Operator::Mod | Operator::BitAnd | Operator::MatMult => false,
    }
}
