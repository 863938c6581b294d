//! Whether what decides on a program's report decided otherwise at another time: an assertion that
//! held before it failed, a condition that went both ways. Called by the judge; proposes nothing.

use crate::{
    analysis::dependence_check::{ReportSite, Rest, told},
    syntax::{AnyNodeRef, Program},
    trace::evidence::Evidence,
};

/// Whether a reporting statement was come to, or asked for, and the program went on without a report.
pub fn is_decided_otherwise(program: &Program, site: &ReportSite, evidence: &Evidence) -> bool {
    let found = told(program, site, Some(evidence), &|tree, nodes, frames| {
        let Some(&last) = frames.last() else {
            return false;
        };
        let statement = &tree.statements[last];
        let rest = Rest::of(tree, nodes);
        let mut deciding = rest.conditions(last).into_iter();
        let condition = deciding.find(|&at| rest.decides(at));
        match statement.node {
            AnyNodeRef::StmtAssert(_) => tree.times(last) > 1,
            _ => match condition {
                Some(at) => tree.statements[at].node.is_stmt_if() && tree.goes_both_ways(at),
                // A package asserts it, and lets it pass.
                None => {
                    let ends = statement.node.is_stmt_raise();
                    matches!(site, ReportSite::Raised(_)) && !ends && tree.times(last) > 1
                }
            },
        }
    });
    found.into_iter().any(|is_so| is_so)
}

/// Whether a condition on which a report rests went one way at one time and the other at another.
pub fn rests_on_both_ways(program: &Program, site: &ReportSite, evidence: &Evidence) -> bool {
    let found = told(program, site, Some(evidence), &|tree, nodes, frames| {
        let rest = Rest::of(tree, nodes).of_frames(frames);
        let decides = |at: &usize| tree.statements[*at].node.is_stmt_if() && rest.decides(*at);
        let mut deciding = rest.statements().filter(decides);
        deciding.any(|at| tree.goes_both_ways(at))
    });
    found.into_iter().any(|is_so| is_so)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing::evidence, trace::evidence::SourceLine};

    /// Asks of a program that reports on a line, where lines run so many times.
    #[track_caller]
    fn check(text: &str, line: u32, times: &[(u32, u32)], expected: bool) {
        let program = Program::parse(text).unwrap();
        let mut ran = evidence(text);
        for &(line, count) in times {
            ran.hits.insert(SourceLine::of_program(line), count.into());
        }
        let site = ReportSite::Raised(vec![line]);
        assert_eq!(
            is_decided_otherwise(&program, &site, &ran),
            expected,
            "{text}"
        );
    }

    #[test]
    fn checks_hold_before_they_fail() {
        let text = "for x in y:\n    assert f(x)\n";
        check(text, 2, &[(2, 3)], true);
        check(text, 2, &[(2, 1)], false);
        let text = "for x in y:\n    if f(x):\n        raise E\n";
        check(text, 3, &[(2, 3), (3, 1)], true);
        check(text, 3, &[(2, 1), (3, 1)], false);
        check("for x in y:\n    lib.check(x)\n", 2, &[(2, 2)], true);
        let text = "z = []\nfor x in y:\n    if f(x):\n        z.append(x)\nassert not z\n";
        let program = Program::parse(text).unwrap();
        let site = ReportSite::Raised(vec![5]);
        let mut ran = evidence(text);
        assert!(!rests_on_both_ways(&program, &site, &ran));
        ran.hits.insert(SourceLine::of_program(3), 2);
        assert!(rests_on_both_ways(&program, &site, &ran));
        check("lib.check(x)\n", 1, &[(1, 1)], false);
    }
}
