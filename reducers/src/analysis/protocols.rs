//! The protocols of libraries that objects of a program's own classes speak: methods with special
//! names to which the language gives no meaning, such as `__array_ufunc__`. Goes by names. Called
//! by the judge; proposes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_check::{ReportSite, Rest, told},
        handed_on::positional,
        own_classes::OwnClasses,
        special_names::is_of_library,
    },
    syntax::{
        Program,
        ast::{Expr, Stmt},
    },
};

/// The special names of libraries that classes define, each with the numbers of arguments that its
/// method takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocols(BTreeMap<String, ArgumentCount>);

/// How many positional arguments a method takes, at least and at most; of what is no method, nothing
/// is known.
type ArgumentCount = Option<(usize, Option<usize>)>;

impl Protocols {
    /// Those of the classes on which a failing statement depends, given the lines of its frames,
    /// outermost first.
    pub fn of(program: &Program, frames: &[u32]) -> Self {
        let classes = OwnClasses::of(program);
        let site = ReportSite::Raised(frames.to_vec());
        let found = told(program, &site, None, &|outline, nodes, frames| {
            let rest = Rest::of(outline, nodes).of_frames(frames);
            let nodes = rest.statements().flat_map(|statement| &nodes[statement]);
            let names = nodes.filter_map(|node| node.as_expr_name());
            let classes = names.flat_map(|name| classes.with_bases(&name.id));
            let members = classes.flat_map(|class| class.body.iter().flat_map(bound));
            members
                .filter(|(name, _)| is_of_library(name))
                .map(|(name, count)| (name.to_owned(), count))
                .collect::<BTreeMap<_, _>>()
        });
        Self(found.into_iter().flatten().collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The special names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether others are some of these, and can be called as these are.
    pub fn has_left(&self, others: &Self) -> bool {
        let mut left = self.0.iter().filter_map(|(name, known)| {
            let its = others.0.get(name)?;
            Some(takes(*its, *known))
        });
        left.next()
            .is_some_and(|first| first && left.all(|takes| takes))
    }
}

/// Whether a method takes as many arguments as another.
fn takes(its: ArgumentCount, known: ArgumentCount) -> bool {
    its.zip(known).is_none_or(|((least, most), (fewest, all))| {
        least <= fewest && most.is_none_or(|most| all.is_some_and(|all| all <= most))
    })
}

/// The names that a statement of a class binds.
fn bound(member: &Stmt) -> Vec<(&str, ArgumentCount)> {
    match member {
        Stmt::FunctionDef(def) => vec![(def.name.as_str(), Some(positional(def)))],
        Stmt::Assign(assign) => {
            let names = assign.targets.iter().filter_map(Expr::as_name_expr);
            names.map(|name| (name.id.as_str(), None)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn of(text: &str, line: u32) -> Protocols {
        Protocols::of(&Program::parse(text).unwrap(), &[line])
    }

    #[test]
    fn they_are_those_of_what_a_statement_depends_on() {
        let names = |argument: &str| {
            let classes = "class A:\n    __array_priority__ = 1\n    def __len__(self): pass\nclass B(A):\n    def __array_ufunc__(self): pass\nclass C:\n    def __array__(self): pass\n";
            let found = of(&format!("{classes}b = B()\nf({argument})\n"), 9);
            found.names().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names("b"), ["__array_priority__", "__array_ufunc__"]);
        assert_eq!(names("C()"), ["__array__"]);
        assert!(names("1").is_empty());
    }

    #[test]
    fn one_of_them_is_left_that_can_be_called() {
        let with = |methods: &str| of(&format!("class A:\n{methods}\nlib.f(A())\n"), 4);
        let known = with("    def __ufunc__(self, of, *all): pass\n    def __array__(self): pass");
        let left = |methods: &str| known.has_left(&with(methods));
        assert!(left("    def __ufunc__(self, *all): pass\n"));
        assert!(left("    def __array__(self, of=None): pass\n"));
        assert!(!left("    def __ufunc__(self, of): pass\n"));
        assert!(!left("    def __ufunc__(self, of, at, *all): pass\n"));
        assert!(!left("    pass\n"));
    }
}
