use crate::{
    analysis::dependents::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        gain::gains,
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprCall, ExprFString, UnaryOp},
    },
    torch::{
        environment::{ACCELERATORS, is_accelerator},
        names::{Torch, removed_argument},
    },
};

pass! {
    /// Lets everything run on the CPU that runs on another device.
    ///
    /// ```python before
    /// import torch
    /// device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    /// model = Model().cuda()
    /// torch.cuda.synchronize()
    /// x = torch.randn(4, device="cuda")
    /// ```
    /// ```python after
    /// import torch
    /// device = torch.device("cpu")
    /// model = Model()
    /// x = torch.randn(4, device="cpu")
    /// ```
    pub(crate) static USE_CPU = Pass { stage: Stage::Environment, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return;
    };
    let edits = on_cpu_everywhere(program, &torch, tree);
    if !edits.is_empty() && gains(program, &edits) {
        out.propose(edits, Prior::Likely, "all on the CPU");
    }
}

/// The edits that leave nothing on another device.
pub(crate) fn on_cpu_everywhere(program: &Program, torch: &Torch<'_>, tree: &Tree<'_>) -> EditSet {
    let statements = Statements::of(program);
    let mut edits = EditSet::default();
    for (index, node) in tree.nodes.iter().enumerate() {
        let without = |range: TextRange| statements.place(range).map(EditSet::removal);
        let replaced = |text: &str| Some(EditSet::one(Edit::replace(node.node.range(), text)));
        let found = match node.node {
            AnyNodeRef::StringLiteral(it) if is_accelerator(it.as_str()) => {
                let quote = if program.slice(it.range).ends_with('"') {
                    '"'
                } else {
                    '\''
                };
                replaced(&format!("{quote}cpu{quote}"))
            }
            AnyNodeRef::ExprFString(it) if is_numbered(it) => replaced("\"cpu\""),
            AnyNodeRef::ExprIf(it) if is_availability(torch, &it.test) => {
                keep_part(program, it.range, &it.orelse)
            }
            AnyNodeRef::StmtAssert(it) if is_availability(torch, &it.test) => without(it.range),
            AnyNodeRef::StmtAssign(it) if it.targets.iter().any(|it| is_setting(torch, it)) => {
                without(it.range)
            }
            // What a script does without the device is to give up.
            AnyNodeRef::ExprUnaryOp(it)
                if it.op == UnaryOp::Not && is_availability(torch, &it.operand) =>
            {
                replaced("False")
            }
            AnyNodeRef::ExprCall(call) => {
                let around = tree.ancestors(index as u32).next();
                let statement = around.filter(|it| matches!(it, AnyNodeRef::StmtExpr(_)));
                match torch.path(&call.func).as_deref().and_then(of_accelerator) {
                    Some(rest) => statement
                        .and_then(|it| without(it.range()))
                        .or_else(|| on_cpu(rest, call)),
                    None => unmoved(program, torch, call),
                }
            }
            AnyNodeRef::Keyword(it) if it.arg.as_ref().is_some_and(|it| it.id == "pin_memory") => {
                removed_argument(program, it.range)
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
        .and_then(|it| it.as_literal());
    first.is_some_and(|it| it.value.strip_suffix(':').is_some_and(is_accelerator))
}

/// The rest of the name of what belongs to another device: `synchronize` of
/// `torch.cuda.synchronize`.
fn of_accelerator(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("torch.")?;
    let (device, rest) = rest
        .strip_prefix("backends.")
        .unwrap_or(rest)
        .split_once('.')?;
    ACCELERATORS.contains(&device).then_some(rest)
}

/// Whether an expression asks whether there is another device.
fn is_availability(torch: &Torch<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            torch.path(&call.func).as_deref().and_then(of_accelerator) == Some("is_available")
        }
        _ => false,
    }
}

fn is_setting(torch: &Torch<'_>, target: &Expr) -> bool {
    torch
        .path(target)
        .as_deref()
        .and_then(of_accelerator)
        .is_some()
}

/// What stands on a CPU for a call that is about another device.
fn on_cpu(rest: &str, call: &ExprCall) -> Option<EditSet> {
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

#[cfg(test)]
mod tests {
    use super::USE_CPU;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn every_form_at_once() {
        check_edits(
            &USE_CPU,
            "\
import torch
from torch.cuda.amp import autocast
assert torch.cuda.is_available()
torch.backends.cuda.matmul.allow_tf32 = True
if not torch.cuda.is_available():
    exit()
x = torch.ones(2, device=f'cuda:{rank}').to('mps')
with autocast(enabled=True):
    y = f(x.cuda(non_blocking=True), pin_memory=True)
count = torch.cuda.device_count()
",
            &["\
import torch
from torch.cuda.amp import autocast
if False:
    exit()
x = torch.ones(2, device=\"cpu\").to('cpu')
with torch.amp.autocast(\"cpu\", enabled=True):
    y = f(x)
count = 0
"],
        );
    }

    #[test]
    fn what_runs_on_the_cpu_stays() {
        check_none(
            &USE_CPU,
            "import torch\nx = torch.ones(2, device='cpu').to(torch.int64)\n",
        );
        check_none(&USE_CPU, "x.cuda()\ny = 'cuda'\n");
    }
}
