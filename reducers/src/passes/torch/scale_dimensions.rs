use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    torch::dimensions::Dimensions,
};

pass! {
    /// Shrinks all sizes of tensors and layers at once and keeps their relations.
    ///
    /// Equal numbers are one size, multiples stay multiples, products stay products, and a size
    /// that divides another still divides it.
    ///
    /// ```python before
    /// import torch
    /// hidden, heads = 768, 12
    /// mlp = torch.nn.Linear(768, 3072)
    /// x = torch.randn(32, 768).view(32, 12, 64)
    /// ```
    /// ```python after
    /// import torch
    /// hidden, heads = 16, 2
    /// mlp = torch.nn.Linear(16, 64)
    /// x = torch.randn(4, 16).view(4, 2, 8)
    /// ```
    pub(crate) static SCALE_DIMENSIONS = Pass { stage: Stage::Environment, propose };
}

/// The least sizes that are tried, the boldest first.
const LEAST: [u64; 3] = [2, 8, 32];

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(dimensions) = Dimensions::of(cx.program) else {
        return;
    };
    for least in LEAST {
        let edits = dimensions.scaled(least);
        if !edits.is_empty() && cx.scales.gains(&edits) {
            out.propose(edits, Prior::Even, format!("all sizes, none below {least}"));
            out.next_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SCALE_DIMENSIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn each_step_is_an_attempt() {
        check_edits(
            &SCALE_DIMENSIONS,
            "import torch\nx = torch.randn(64, 100)\n",
            &[
                "import torch\nx = torch.randn(2, 4)\n",
                "import torch\nx = torch.randn(8, 10)\n",
                "import torch\nx = torch.randn(32, 34)\n",
            ],
        );
    }

    #[test]
    fn small_sizes_stay() {
        check_none(
            &SCALE_DIMENSIONS,
            "import torch\nx = torch.randn(2, 3, 4)[0]\n",
        );
        check_none(&SCALE_DIMENSIONS, "x = randn(768)\n");
    }
}
