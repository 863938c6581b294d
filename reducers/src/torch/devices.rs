//! Devices: how a program names those that are not the CPU, and the edits that move it to the CPU.
//! Called by the pass that does so, the ablation, the repairs of scrub and the environment's rank.

use crate::{
    analysis::statements::Statements,
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprCall, ExprFString, UnaryOp},
    },
    torch::names::{Torch, removed_argument},
};

/// The devices other than the CPU, as PyTorch names them.
pub(crate) const ACCELERATORS: &[&str] = &["cuda", "mps", "xpu", "hip"];

/// Whether a text names such a device, with or without a number.
pub(crate) fn is_accelerator(text: &str) -> bool {
    let (device, number) = text.split_once(':').unwrap_or((text, "0"));
    ACCELERATORS.contains(&device) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same program on the CPU; `None` if it already is, or if no edit is known that moves it.
pub fn on_cpu(program: &Program) -> Option<String> {
    let tree = program.tree();
    let torch = Torch::of(program, tree)?;
    let edits = on_cpu_everywhere(program, &torch, tree);
    let text = edits.apply(program).ok()?;
    (text != program.text()).then_some(text)
}

/// The edits that leave nothing on another device.
pub(crate) fn on_cpu_everywhere(program: &Program, torch: &Torch<'_>, tree: &Tree<'_>) -> EditSet {
    let statements = Statements::of(program);
    let mut edits = EditSet::default();
    for (index, node) in tree.nodes.iter().enumerate() {
        let without = |range: TextRange| statements.place(range).map(EditSet::removal);
        let replaced = |text: &str| Some(EditSet::one(Edit::replace(node.node.range(), text)));
        let found = match node.node {
            AnyNodeRef::StringLiteral(text) if is_accelerator(text.as_str()) => {
                let quote = if program.slice(text.range).ends_with('"') {
                    '"'
                } else {
                    '\''
                };
                replaced(&format!("{quote}cpu{quote}"))
            }
            AnyNodeRef::ExprFString(text) if is_numbered(text) => replaced("\"cpu\""),
            AnyNodeRef::ExprIf(choice) if is_availability(torch, &choice.test) => {
                keep_part(program, choice.range, &choice.orelse)
            }
            AnyNodeRef::StmtAssert(check) if is_availability(torch, &check.test) => {
                without(check.range)
            }
            AnyNodeRef::StmtAssign(assign)
                if assign
                    .targets
                    .iter()
                    .any(|target| is_setting(torch, target)) =>
            {
                without(assign.range)
            }
            // Without the device, most scripts only give up.
            AnyNodeRef::ExprUnaryOp(negation)
                if negation.op == UnaryOp::Not && is_availability(torch, &negation.operand) =>
            {
                replaced("False")
            }
            AnyNodeRef::ExprCall(call) => {
                let around = tree.ancestors(index as u32).next();
                let statement = around.filter(|outer| matches!(outer, AnyNodeRef::StmtExpr(_)));
                match torch.path(&call.func).as_deref().and_then(of_accelerator) {
                    Some(rest) => statement
                        .and_then(|statement| without(statement.range()))
                        .or_else(|| counterpart(rest, call)),
                    None => unmoved(program, torch, call),
                }
            }
            AnyNodeRef::Keyword(keyword)
                if keyword
                    .arg
                    .as_ref()
                    .is_some_and(|name| name.id == "pin_memory") =>
            {
                removed_argument(program, keyword.range)
            }
            _ => None,
        };
        edits.extend(&found.unwrap_or_default());
    }
    edits
}

/// Whether a formatted string is a device with a number.
fn is_numbered(string: &ExprFString) -> bool {
    let first = string
        .value
        .elements()
        .next()
        .and_then(|element| element.as_literal());
    first.is_some_and(|literal| literal.value.strip_suffix(':').is_some_and(is_accelerator))
}

/// The rest of a name that belongs to another device: `synchronize` of
/// `torch.cuda.synchronize`.
fn of_accelerator(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("torch.")?;
    let (device, rest) = rest
        .strip_prefix("backends.")
        .unwrap_or(rest)
        .split_once('.')?;
    ACCELERATORS.contains(&device).then_some(rest)
}

/// Whether an expression asks if there is another device.
fn is_availability(torch: &Torch<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            torch.path(&call.func).as_deref().and_then(of_accelerator) == Some("is_available")
        }
        _ => false,
    }
}

/// Whether a target of an assignment is a setting of another device.
fn is_setting(torch: &Torch<'_>, target: &Expr) -> bool {
    torch
        .path(target)
        .as_deref()
        .and_then(of_accelerator)
        .is_some()
}

/// The replacement on a CPU for a call that is about another device.
fn counterpart(rest: &str, call: &ExprCall) -> Option<EditSet> {
    let whole = |text: &str| Some(EditSet::one(Edit::replace(call.range, text)));
    match rest {
        "is_available" => whole("False"),
        "device_count" => whole("0"),
        "current_device" => whole("\"cpu\""),
        "amp.autocast" | "amp.GradScaler" => {
            let mut edits = EditSet::default();
            let name = rest.trim_start_matches("amp.");
            edits.edit(Edit::replace(
                call.func.range(),
                format!("torch.amp.{name}"),
            ));
            let open = TextRange::empty(call.arguments.range.start() + TextSize::new(1));
            let comma = if call.arguments.is_empty() { "" } else { ", " };
            edits.edit(Edit::replace(open, format!("\"cpu\"{comma}")));
            Some(edits)
        }
        _ => None,
    }
}

/// `x` for `x.cuda()`.
fn unmoved(program: &Program, torch: &Torch<'_>, call: &ExprCall) -> Option<EditSet> {
    let Expr::Attribute(method) = &*call.func else {
        return None;
    };
    let is_move =
        ACCELERATORS.contains(&method.attr.as_str()) && torch.path(&method.value).is_none();
    is_move.then(|| keep_part(program, call.range, &method.value))?
}
