use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    torch::dimensions::Dimensions,
};

pass! {
    /// Shrinks one size of tensors and layers wherever it occurs, and the sizes that derive from
    /// it.
    ///
    /// ```python before
    /// import torch
    /// x = torch.randn(5, 16)
    /// y = torch.nn.Linear(16, 64)(x)
    /// ```
    /// ```python after
    /// import torch
    /// x = torch.randn(5, 2)
    /// y = torch.nn.Linear(2, 8)(x)
    /// ```
    pub(crate) static SHRINK_DIMENSIONS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(dimensions) = Dimensions::of(cx.program) else {
        return;
    };
    for (size, places) in dimensions.sizes() {
        let smaller = [1, 2, 4, 8].into_iter();
        for smaller in smaller.filter(|smaller| (cx.least_size()..size).contains(smaller)) {
            let edits = dimensions.changed(size, smaller);
            let is_alone = edits
                .resolve(cx.program)
                .is_ok_and(|edits| edits.len() <= 1);
            // `shrink-literals` covers a size that stands in a single place.
            if (places == 1 && is_alone) || edits.is_empty() || !cx.scales.gains(&edits) {
                continue;
            }
            out.propose(
                edits,
                Prior::Even,
                format!("size {size} reduced to {smaller}"),
            );
            out.next_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SHRINK_DIMENSIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn equal_sizes_shrink_together() {
        check_edits(
            &SHRINK_DIMENSIONS,
            "import torch\nx = torch.ones(3, 5) @ torch.ones(5, 7)\n",
            &[
                "import torch\nx = torch.ones(3, 1) @ torch.ones(1, 7)\n",
                "import torch\nx = torch.ones(3, 2) @ torch.ones(2, 7)\n",
            ],
        );
    }

    #[test]
    fn single_literals_are_left_to_their_own_pass() {
        check_none(&SHRINK_DIMENSIONS, "import torch\nx = torch.ones(3, 5)\n");
        check_none(&SHRINK_DIMENSIONS, "x = ones(5, 5)\n");
    }
}
