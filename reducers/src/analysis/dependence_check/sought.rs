//! The texts by which a program looks something up that it has written down elsewhere. What finds
//! nothing because nothing was there to be found shows nothing. Called by the judge of candidates,
//! by way of the dependence check.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ReportSite, Rest, told};
use crate::{
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{CmpOp, Expr},
    },
    trace::evidence::Evidence,
};

/// Methods that look up their first argument.
const LOOK_UPS: [&str; 3] = ["get", "pop", "setdefault"];

/// Texts that a reporting statement depends on the look-up of, and that the program also has
/// elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sought(BTreeSet<String>);

/// The texts that each reporting statement depends on the look-up of.
fn looked_up(
    program: &Program,
    site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<BTreeSet<String>> {
    told(program, site, evidence, &|outline, nodes, frames| {
        let rest = Rest::of(outline, nodes).of_frames(frames);
        let texts = rest.statements().flat_map(|statement| &nodes[statement]);
        let texts = texts.filter_map(look_up);
        texts.map(|(_, text)| text.to_owned()).collect()
    })
}

/// The texts that a program has, but for those by which it looks something up, and those with which it
/// does nothing.
fn written_down(program: &Program) -> BTreeSet<&str> {
    let nodes = &program.tree().nodes;
    let alone = |node: &AnyNodeRef<'_>| Some(node.as_stmt_expr()?.value.range());
    let passed_over = nodes.iter().filter_map(|node| {
        let looked_up = look_up(&node.node).map(|(range, _)| range);
        looked_up.or_else(|| alone(&node.node))
    });
    let passed_over: BTreeSet<_> = passed_over.map(TextRange::start).collect();
    let texts = nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprStringLiteral(text) => Some(text),
        _ => None,
    });
    texts
        .filter(|text| !passed_over.contains(&text.range.start()))
        .map(|text| text.value.to_str())
        .collect()
}

/// The text by which an expression looks something up, and where it stands.
fn look_up<'a>(node: &AnyNodeRef<'a>) -> Option<(TextRange, &'a str)> {
    let key = match node {
        AnyNodeRef::ExprCall(call) => {
            let method = call.func.as_attribute_expr()?;
            let is_look_up = LOOK_UPS.contains(&method.attr.as_str());
            call.arguments.args.first().filter(|_| is_look_up)?
        }
        AnyNodeRef::ExprSubscript(subscript) if subscript.ctx.is_load() => &*subscript.slice,
        AnyNodeRef::ExprCompare(compare) => {
            let is_presence = matches!(*compare.ops, [CmpOp::In | CmpOp::NotIn]);
            Some(&*compare.left).filter(|_| is_presence)?
        }
        _ => return None,
    };
    let Expr::StringLiteral(text) = key else {
        return None;
    };
    Some((text.range(), text.value.to_str()))
}

impl Sought {
    /// Those that all reporting statements of a program have in common.
    pub fn of(program: &Program, site: &ReportSite, evidence: Option<&Evidence>) -> Self {
        let written = written_down(program);
        let all = looked_up(program, site, evidence).into_iter();
        let mut common = all.reduce(|all, texts| &all & &texts).unwrap_or_default();
        common.retain(|text| written.contains(text.as_str()));
        Self(common)
    }

    /// Whether a candidate has such a text in both places or in none.
    pub fn allows(
        &self,
        candidate: &Program,
        site: &ReportSite,
        evidence: Option<&Evidence>,
    ) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let written = written_down(candidate);
        let mut all = looked_up(candidate, site, evidence).into_iter();
        all.any(|looked_up| {
            let mut texts = self.0.iter();
            texts.all(|text| looked_up.contains(text) == written.contains(text.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up_stays_where_it_is_looked_for() {
        let program = |text: &str| Program::parse(text).unwrap();
        let last = |text: &str| ReportSite::Raised(vec![text.lines().count() as u32]);
        let text = "import lib\nrows = lib.split({'a': {'b': 1}, 'c': 2})\nassert rows.get('a')['b'] == 2\n";
        let sought = Sought::of(&program(text), &last(text), None);
        assert_eq!(sought.0, ["a", "b"].map(str::to_owned).into());
        let allows = |text: &str| sought.allows(&program(text), &last(text), None);
        assert!(allows(
            "rows = lib.split({'a': {'b': 1}})\nassert rows.get('a')['b']\n"
        ));
        assert!(allows("rows = lib.split({'b': 1})\nassert rows['b']\n"));
        // It was never there, or nothing is done with it, or it is looked for elsewhere.
        assert!(!allows(
            "'a'\nrows = lib.split({'b': 1})\nassert rows.get('a')['b']\n"
        ));
        assert!(!allows(
            "rows = lib.split({'a': 1})\nassert rows.get('a')['b']\n"
        ));
        assert!(!allows(
            "rows = lib.split({'a': {'b': 1}})\nassert rows['b']\n"
        ));
        let other = "x = {'a': 1}\nassert 'z' not in x\n";
        assert_eq!(
            Sought::of(&program(other), &last(other), None),
            Sought::default()
        );
    }
}
