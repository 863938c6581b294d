//! The two shapes that a message says do not fit, and in which dimensions they agree: there, they fit.
//! Pure. Called by the fingerprint.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::text::pattern;

// `(4, j1, 4)`, `[2, 3]`
pattern!(SHAPE, r"[(\[]((?:[a-z]?\d+, ?)+[a-z]?\d+|\d+,),?[)\]]");

/// Where two shapes of as many dimensions agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgreeingShapes {
    dimensions: usize,
    agreeing: BTreeSet<usize>,
}

impl AgreeingShapes {
    /// Those of a message whose first line with shapes has two, if they have as many dimensions.
    pub(super) fn of(message: &str) -> Option<Self> {
        let mut lines = message.lines();
        let shapes = lines.find_map(|line| {
            let shapes = SHAPE.captures_iter(line);
            let shapes: Vec<Vec<String>> = shapes.map(|found| sizes(&found[1])).collect();
            (!shapes.is_empty()).then_some(shapes)
        })?;
        let [one, other] = shapes.as_slice() else {
            return None;
        };
        let pairs = one.iter().zip(other).enumerate();
        let agreeing = pairs.filter(|(_, (one, other))| one == other);
        (one.len() == other.len()).then(|| Self {
            dimensions: one.len(),
            agreeing: agreeing.map(|(at, _)| at).collect(),
        })
    }

    /// How the shapes of a message fit less than these, in words; none if they do not.
    pub(super) fn mismatch(&self, message: &str) -> Option<String> {
        let its = Self::of(message).filter(|its| its.dimensions == self.dimensions)?;
        let at = self.agreeing.difference(&its.agreeing).next()?;
        Some(format!("the shapes differ in dimension {at}, too"))
    }
}

fn sizes(list: &str) -> Vec<String> {
    let sizes = list.split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty());
    sizes.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agrees_goes_on_agreeing() {
        let of = AgreeingShapes::of;
        let known = of("inputs of shapes (4, j1, 8) and (4, j2, 8)").unwrap();
        assert_eq!(
            known.mismatch("inputs of shapes (1, j1, 2) and (1, j5, 2)"),
            None
        );
        assert_eq!(
            known
                .mismatch("inputs of shapes (4, j1, 8) and (4, j2, 3)")
                .as_deref(),
            Some("the shapes differ in dimension 2, too")
        );
        assert_eq!(known.mismatch("inputs of shapes (4, j1) and (5, j2)"), None);
        assert_eq!(known.mismatch("no shapes"), None);
        let sizes = "size mismatch: torch.Size([3, 4]) is not torch.Size([3, 5])";
        let known = of(&format!("for A:\n\t{sizes}")).unwrap();
        assert!(known.mismatch(&sizes.replace("[3, 5]", "[2, 5]")).is_some());
        assert!(of("shapes (2,3) (2,4) (2,5)").is_none() && of("(2,) or (2, 3)").is_none());
    }
}
