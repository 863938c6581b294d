use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, ExprCall},
    },
    torch::names::{Torch, keyword, string},
};

pass! {
    /// Removes `torch.distributed`: wrapped modules become bare ones, several processes become one.
    ///
    /// ```python before
    /// import os
    /// import torch
    /// import torch.distributed as dist
    /// from torch.nn.parallel import DistributedDataParallel as DDP
    /// dist.init_process_group("gloo")
    /// rank = int(os.environ["LOCAL_RANK"]) + dist.get_rank()
    /// model = DDP(Model(), device_ids=[rank])
    /// ```
    /// ```python after
    /// import os
    /// import torch
    /// import torch.distributed as dist
    /// from torch.nn.parallel import DistributedDataParallel as DDP
    /// rank = int("0") + 0
    /// model = Model()
    /// ```
    pub(crate) static LEAVE_DISTRIBUTED = Pass { stage: Stage::Environment, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return;
    };
    let statements = Statements::of(program);
    let mut edits = EditSet::default();
    let mut is_distributed = false;
    for (index, node) in tree.nodes.iter().enumerate() {
        let around = tree.ancestors(index as u32).next();
        let found = match node.node {
            AnyNodeRef::ExprCall(call) => match torch.path(&call.func).as_deref().and_then(part) {
                Some(name) => {
                    is_distributed = true;
                    let statement = around.filter(|node| matches!(node, AnyNodeRef::StmtExpr(_)));
                    alone(program, name, call).or_else(|| {
                        let place = statements.place(statement?.range())?;
                        Some(EditSet::removal(place))
                    })
                }
                None => None,
            },
            AnyNodeRef::ExprSubscript(it) if torch.is_environ(&it.value) => string(&it.slice)
                .and_then(variable)
                .filter(|_| it.ctx.is_load())
                .map(|value| EditSet::one(Edit::replace(it.range, format!("\"{value}\"")))),
            _ => None,
        };
        edits.extend(&found.unwrap_or_default());
    }
    if is_distributed && !edits.is_empty() && cx.scales.gains(&edits) {
        out.propose(edits, Prior::Likely, "a single process");
    }
}

/// The last part of a name that belongs to distributed computing.
fn part(path: &str) -> Option<&str> {
    let (package, name) = path.strip_prefix("torch.")?.rsplit_once('.')?;
    let is_package = |name: &str| matches!(name, "distributed" | "parallel" | "multiprocessing");
    package.split('.').any(is_package).then_some(name)
}

/// The replacement of a call in a program of one process.
fn alone(program: &Program, name: &str, call: &ExprCall) -> Option<EditSet> {
    let whole = |text: &str| Some(EditSet::one(Edit::replace(call.range, text)));
    let first = call.arguments.args.first();
    match name {
        "DistributedDataParallel"
        | "FullyShardedDataParallel"
        | "DataParallel"
        | "fully_shard"
        | "parallelize_module"
        | "distribute_tensor"
        | "distribute_module" => keep_part(
            program,
            call.range,
            first.or(keyword(call, "module").map(|keyword| &keyword.value))?,
        ),
        "get_rank" => whole("0"),
        "get_world_size" => whole("1"),
        "is_initialized" | "is_available" => whole("False"),
        "spawn" => {
            let arguments = keyword(call, "args")
                .map(|keyword| &keyword.value)
                .or(call.arguments.args.get(1));
            let arguments = match arguments {
                Some(Expr::Tuple(it)) => it
                    .elts
                    .iter()
                    .map(|element| format!(", {}", program.slice(element.range())))
                    .collect(),
                Some(_) => return None,
                None => String::new(),
            };
            whole(&format!("{}(0{arguments})", program.slice(first?.range())))
        }
        _ => None,
    }
}

/// The value of an environment variable that the launcher of one process sets.
fn variable(name: &str) -> Option<&'static str> {
    match name {
        "RANK" | "LOCAL_RANK" => Some("0"),
        "WORLD_SIZE" | "LOCAL_WORLD_SIZE" => Some("1"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::LEAVE_DISTRIBUTED;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn processes_are_functions() {
        check_edits(
            &LEAVE_DISTRIBUTED,
            "import torch.multiprocessing as mp\nmp.spawn(run, args=(1, x), nprocs=2)\n",
            &["import torch.multiprocessing as mp\nrun(0, 1, x)\n"],
        );
    }

    #[test]
    fn calls_without_a_peer_are_removed() {
        check_edits(
            &LEAVE_DISTRIBUTED,
            "import torch.distributed as d\nif d.get_rank() == 0:\n    d.barrier()\n    f(d.get_world_size())\n",
            &["import torch.distributed as d\nif 0 == 0:\n    f(1)\n"],
        );
    }

    #[test]
    fn one_process_stays() {
        check_none(
            &LEAVE_DISTRIBUTED,
            "import torch, os\nx = os.environ['RANK']\ntorch.ones(1)\n",
        );
        check_none(
            &LEAVE_DISTRIBUTED,
            "import multiprocessing as mp\nmp.spawn(f)\n",
        );
    }
}
