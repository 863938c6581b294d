use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    torch::{
        data_types::{RareType, needs_double, rare_types},
        names::Torch,
    },
};

pass! {
    /// Uses 32-bit floats instead of other data types.
    ///
    /// ```python before
    /// import torch
    /// x = torch.ones(2, dtype=torch.float64).half()
    /// ```
    /// ```python after
    /// import torch
    /// x = torch.ones(2, dtype=torch.float32).float()
    /// ```
    pub(crate) static USE_FLOAT32 = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let mut found = rare_types(&torch, tree);
    if needs_double(cx.program, tree) {
        found.retain(|rare| !rare.is_double(cx.program));
    }
    let plain = |rare: &RareType| Edit::replace(rare.name, rare.plain);
    let mut all = EditSet::default();
    for rare in &found {
        all.edit(plain(rare));
    }
    if found.len() > 1 && cx.scales.gains(&all) {
        out.propose(all, Prior::Even, "all types to 32-bit floats");
        out.next_group();
    }
    for rare in found.iter().rev() {
        let edits = EditSet::one(plain(rare));
        if cx.scales.gains(&edits) {
            let note = format!(
                "`{}` replaced with `{}`",
                cx.program.slice(rare.name),
                rare.plain
            );
            out.propose(edits, Prior::Even, note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::USE_FLOAT32;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn together_and_one_by_one() {
        check_edits(
            &USE_FLOAT32,
            "from torch import half as h\nimport torch as t\nf(x.double(), t.int8)\n",
            &[
                "from torch import half as h\nimport torch as t\nf(x.float(), t.float32)\n",
                "from torch import half as h\nimport torch as t\nf(x.double(), t.float32)\n",
                "from torch import half as h\nimport torch as t\nf(x.float(), t.int8)\n",
            ],
        );
    }

    #[test]
    fn checks_of_gradients_keep_double_precision() {
        check_edits(
            &USE_FLOAT32,
            "import torch\nfrom torch.autograd import gradcheck\ngradcheck(f, x.double(), y.half())\n",
            &[
                "import torch\nfrom torch.autograd import gradcheck\ngradcheck(f, x.double(), y.float())\n",
            ],
        );
    }

    #[test]
    fn common_types_stay() {
        check_none(
            &USE_FLOAT32,
            "import torch\nf(torch.float32, torch.int64, torch.bool, x.long())\n",
        );
        check_none(
            &USE_FLOAT32,
            "import numpy as np\nf(np.float64, x.double())\n",
        );
    }
}
