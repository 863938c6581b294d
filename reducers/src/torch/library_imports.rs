//! What a program imports of PyTorch, for whoever weighs parts of the program by themselves. Called by
//! the cost and by what weighs proposals.

use crate::{
    syntax::{Program, Tree},
    torch::{
        data_types::rare_types,
        environment::{EnvironmentRank, environment},
        names::Torch,
    },
};

/// What a program imports of the library, if it does: by that the parts of the program are read.
pub(crate) struct LibraryImports<'a>(Option<Torch<'a>>);

impl<'a> LibraryImports<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        Self(Torch::of(program, program.tree()))
    }

    /// The rank of the environment that a part of the program needs.
    pub(crate) fn environment(&self, part: &Tree<'_>) -> EnvironmentRank {
        environment(part, self.0.as_ref())
    }

    /// How many mentions of rare data types a part of the program has.
    pub(crate) fn count_rare_types(&self, part: &Tree<'_>) -> usize {
        let torch = self.0.as_ref();
        torch.map_or(0, |torch| rare_types(torch, part).len())
    }
}
