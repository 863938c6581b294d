//! Whether it is the class of an object that stores what the object lacks. Where a class stores an
//! attribute and its objects lack it, the store was left out or lost; where another class stores
//! it, its absence is expected.

use super::storing;
use crate::{
    analysis::{own_classes::OwnClasses, statement_tree::StatementTree},
    syntax::Program,
};

/// Whether a class of the program, or one that it derives from, stores something under a name.
pub fn stores_in_class(program: &Program, name: &str, class: &str) -> bool {
    let tree = StatementTree::untraced(program);
    let classes = OwnClasses::of(program).with_bases(class);
    storing(&tree, name).into_iter().any(|statement| {
        let range = tree.statements[statement].range;
        let mut classes = classes.iter();
        classes.any(|class| class.range.contains_range(range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stores_what_its_bases_store() {
        let text = "class A:\n    def f(self):\n        self.a = 1\nclass B(lib.B, A): pass\nclass C(lib.B):\n    b = 2\n";
        let program = Program::parse(text).unwrap();
        let stores = |name: &str, class: &str| stores_in_class(&program, name, class);
        assert!(stores("a", "A") && stores("a", "B") && stores("b", "C"));
        assert!(!stores("a", "C") && !stores("b", "B") && !stores("a", "D"));
    }
}
