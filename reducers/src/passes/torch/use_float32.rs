use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        gain::gains,
    },
    torch::names::rare_types,
};

pass! {
    /// Uses 32-bit floats in the place of other data types.
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
    let found = rare_types(cx.program, &cx.program.tree());
    let plain = |it: &crate::torch::names::RareType| Edit::replace(it.name, it.plain);
    let mut all = EditSet::default();
    for it in &found {
        all.edit(plain(it));
    }
    if found.len() > 1 && gains(cx.program, &all) {
        out.propose(all, Prior::Even, "all types to 32-bit floats");
        out.next_group();
    }
    for it in found.iter().rev() {
        let edits = EditSet::one(plain(it));
        if gains(cx.program, &edits) {
            let note = format!("`{}` to `{}`", cx.program.slice(it.name), it.plain);
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
