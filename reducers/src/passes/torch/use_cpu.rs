use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    torch::{devices::on_cpu_everywhere, names::Torch},
};

pass! {
    /// Moves everything that runs on another device to the CPU.
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
    if !edits.is_empty() && cx.scales.gains(&edits) {
        out.propose(edits, Prior::Likely, "everything on the CPU");
    }
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
    fn programs_for_the_cpu_stay() {
        check_none(
            &USE_CPU,
            "import torch\nx = torch.ones(2, device='cpu').to(torch.int64)\n",
        );
        check_none(&USE_CPU, "x.cuda()\ny = 'cuda'\n");
    }
}
