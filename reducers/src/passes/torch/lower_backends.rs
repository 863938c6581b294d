use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    torch::{
        compilation::{compilations, with_backend, without_compiler},
        environment::CompilerRank,
        names::Torch,
    },
};

pass! {
    /// Compiles with less: not at all, with Dynamo alone, with AOT autograd, with Inductor's
    /// decompositions.
    ///
    /// The weakest backend that shows the bug names the component that has it. Settings that only
    /// Inductor knows are removed as well.
    ///
    /// ```python before
    /// import torch
    /// f = torch.compile(g, mode="max-autotune")
    /// ```
    /// ```python after
    /// import torch
    /// f = torch.compile(g, backend="eager")
    /// ```
    pub(crate) static LOWER_BACKENDS = Pass { stage: Stage::Environment, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let found = compilations(&torch, tree);
    if found.is_empty() {
        return;
    }
    if let Some(edits) = without_compiler(cx.program).filter(|edits| cx.scales.gains(edits)) {
        out.propose(edits, Prior::Even, "no compilation");
        out.next_group();
    }
    for (rank, name) in CompilerRank::BACKENDS {
        let higher = found
            .iter()
            .filter(|compilation| CompilerRank::of(compilation) > rank);
        let edits = with_backend(cx.program, tree, higher, name);
        if !edits.is_empty() && cx.scales.gains(&edits) {
            out.propose(edits, Prior::Even, format!("backend `{name}`"));
            out.next_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LOWER_BACKENDS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn each_rung_is_an_attempt() {
        check_edits(
            &LOWER_BACKENDS,
            "import torch\nf = torch.compile(g, fullgraph=True, )\n",
            &[
                "import torch\nf = g\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"eager\" )\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"aot_eager\" )\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"aot_eager_decomp_partition\" )\n",
            ],
        );
        check_edits(
            &LOWER_BACKENDS,
            "import torch\n@torch.compile(backend='aot_eager')\ndef f(): pass\n",
            &[
                "import torch\ndef f(): pass\n",
                "import torch\n@torch.compile(backend=\"eager\")\ndef f(): pass\n",
            ],
        );
    }

    #[test]
    fn all_places_together() {
        let program = "from torch import compile as c, nn\n@c\ndef f(): pass\n@c(mode='a', options={})\ndef g(): pass\nm.compile()\nh = c(backend=b)(k)\n";
        check_edits(
            &LOWER_BACKENDS,
            program,
            &[
                "from torch import compile as c, nn\ndef f(): pass\ndef g(): pass\nh = k\n",
                "from torch import compile as c, nn\n@c(backend=\"eager\")\ndef f(): pass\n@c(backend=\"eager\")\ndef g(): pass\nm.compile(backend=\"eager\")\nh = c(backend=\"eager\")(k)\n",
                "from torch import compile as c, nn\n@c(backend=\"aot_eager\")\ndef f(): pass\n@c(backend=\"aot_eager\")\ndef g(): pass\nm.compile(backend=\"aot_eager\")\nh = c(backend=\"aot_eager\")(k)\n",
                "from torch import compile as c, nn\n@c(backend=\"aot_eager_decomp_partition\")\ndef f(): pass\n@c(backend=\"aot_eager_decomp_partition\")\ndef g(): pass\nm.compile(backend=\"aot_eager_decomp_partition\")\nh = c(backend=\"aot_eager_decomp_partition\")(k)\n",
            ],
        );
    }

    #[test]
    fn older_and_partial_forms() {
        check_edits(
            &LOWER_BACKENDS,
            "import torch._dynamo as d\nd.optimize('aot_eager')(f)(x)\n",
            &[
                "import torch._dynamo as d\nf(x)\n",
                "import torch._dynamo as d\nd.optimize(\"eager\")(f)(x)\n",
            ],
        );
        check_edits(
            &LOWER_BACKENDS,
            "import torch\n@partial(torch.compile, backend='aot_eager')\ndef f(): pass\n",
            &["import torch\n@partial(torch.compile, backend=\"eager\")\ndef f(): pass\n"],
        );
    }

    #[test]
    fn other_compilers_are_not_meant() {
        check_none(
            &LOWER_BACKENDS,
            "import re, torch\nre.compile('a')\ncompile('a', 'b', 'c')\n",
        );
        check_none(&LOWER_BACKENDS, "f = torch.compile(g)\n");
        check_none(&LOWER_BACKENDS, "import torch\nf = torch.compile\n");
    }
}
