//! The loop that a program did not leave, as a traced run shows it, and everything that keeps the
//! program in it: any program can loop for ever, so a smaller one shows the same hang only if its
//! loop goes on for the same reason. Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_check::{Operations, ReportSite, Rest, Side, constant, include, tests, told},
        observation::Observation,
        received::Received,
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::Expr},
    trace::evidence::Evidence,
};

/// How often a statement runs at least that counts as repeated by the loop.
const REPEATED: u64 = 10;

/// The dependences of the conditions under which a loop would end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndlessLoop {
    /// The operations.
    operations: Operations,
    /// The constants in statements that the loop repeats, such as its step.
    repeated: BTreeSet<String>,
    /// All constants, such as where it begins.
    #[serde(skip)]
    constants: BTreeSet<String>,
    /// The constants that the program writes out anywhere.
    written: BTreeSet<String>,
    /// What operators add, subtract and so on.
    steps: Received,
}

impl EndlessLoop {
    /// The loop that a traced run of a program did not leave; none if it hung elsewhere. The run
    /// wrote on standard error what [`stepping`] makes it write down.
    pub fn of(program: &Program, evidence: &Evidence, stderr: &str) -> Option<Self> {
        let last = evidence.failure.last().filter(|frame| frame.loops)?;
        let begins = last.line;
        let lines = evidence.failure.iter().map(|frame| frame.line.in_program());
        let site = ReportSite::Raised(lines.collect::<Option<_>>()?);
        let found = told(program, &site, Some(evidence), &|tree, nodes, frames| {
            let mut on_line = (0..tree.statements.len())
                .filter(|&at| tree.line_of(tree.statements[at].range.start()) == begins);
            let looping = on_line.find(|&at| !exits(tree, at).is_empty())?;
            let mut found = Self {
                written: constants(program),
                // A loop soon does more than is written down, and most of it over again.
                steps: Received::read(stderr).of_first_calls(),
                ..Self::default()
            };
            for (statement, part) in exits(tree, looping) {
                let rest = Rest::of(tree, nodes);
                found.add(&rest.of_part(statement, part, &frames), tree, evidence);
            }
            Some(found)
        });
        found.into_iter().flatten().next()
    }

    /// Whether nothing keeps the program in the loop: it has no condition.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.repeated.is_empty()
    }

    /// What two runs of one program have in common.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self {
            operations: &self.operations & &other.operations,
            repeated: &self.repeated & &other.repeated,
            constants: &self.constants & &other.constants,
            written: self.written.clone(),
            steps: self.steps.clone(),
        }
    }

    /// Whether a candidate's loop goes on for the reason that this one does. What the loop repeats
    /// may have got its constants from outside, and nothing may have new ones: a loop that begins
    /// behind its end does not come to it, either. One whose step is zero goes nowhere.
    pub fn goes_on_in(&self, candidate: &Self) -> bool {
        include(&candidate.operations, &self.operations)
            && self.repeated.is_subset(&candidate.constants)
            && candidate.constants.is_subset(&self.written)
            && self.steps.allows(&candidate.steps)
    }

    /// Adds the dependences of one of its conditions.
    fn add(&mut self, side: &Side, tree: &StatementTree<'_>, evidence: &Evidence) {
        self.operations.extend(side.operations.iter().cloned());
        for (at, text) in &side.literals {
            let hits = evidence.hits.get(&tree.line_of(*at)).copied();
            if hits.unwrap_or_default() >= REPEATED {
                self.repeated.insert(text.clone());
            }
            self.constants.insert(text.clone());
        }
    }
}

/// What makes a program write down the right-hand sides of its arithmetic.
pub fn stepping(program: &Program) -> Observation {
    let tree = program.tree();
    let mut observation = Observation::default();
    for (at, node) in tree.nodes.iter().enumerate() {
        let (operator, step) = match node.node {
            AnyNodeRef::StmtAugAssign(stmt) => (stmt.op, stmt.value.range()),
            AnyNodeRef::ExprBinOp(binary) => (binary.op, binary.right.range()),
            _ => continue,
        };
        // The quotes of a formatted text may not stand in it again.
        let mut around = tree.ancestors(at as u32);
        if !around.any(|around| around.is_expr_f_string()) {
            observation.operand(step, &format!("step {}", operator.as_str()));
        }
    }
    observation
}

/// The constants that a program writes out.
fn constants(program: &Program) -> BTreeSet<String> {
    let nodes = program.tree().nodes.iter();
    let texts = nodes.filter_map(|node| constant(program, node.node));
    texts.map(str::to_owned).collect()
}

/// The expressions that decide whether a loop ends, each with its statement: its own condition or
/// iterable, and the conditions in it under which statements run that leave it.
fn exits(tree: &StatementTree<'_>, looping: usize) -> Vec<(usize, TextRange)> {
    let mut found = Vec::new();
    match tree.statements[looping].node {
        AnyNodeRef::StmtWhile(stmt) => found.push((looping, stmt.test.range())),
        AnyNodeRef::StmtFor(stmt) => found.push((looping, stmt.iter.range())),
        _ => return found,
    }
    let leaving = tree.within(looping).filter(|&statement| {
        let mut around = tree.ancestors(statement);
        let nearest = around.find(|&outer| is_loop_or_scope(tree.statements[outer].node));
        match tree.statements[statement].node {
            AnyNodeRef::StmtBreak(_) => nearest == Some(looping),
            AnyNodeRef::StmtReturn(_) | AnyNodeRef::StmtRaise(_) => {
                tree.function_of(statement) == tree.function_of(looping)
            }
            _ => false,
        }
    });
    for statement in leaving {
        let inside = tree
            .ancestors(statement)
            .take_while(|&outer| outer != looping);
        for condition in inside {
            let tests: Vec<&Expr> = tests(tree.statements[condition].node);
            found.extend(tests.iter().map(|test| (condition, test.range())));
        }
    }
    found.sort_by_key(|(statement, part)| (*statement, part.start()));
    found.dedup();
    found
}

fn is_loop_or_scope(node: AnyNodeRef<'_>) -> bool {
    node.is_stmt_while()
        || node.is_stmt_for()
        || node.is_stmt_function_def()
        || node.is_stmt_class_def()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::evidence::{Frame, SourceLine};

    /// The loop on a line of a program whose every line ran often.
    fn looping(text: &str, frames: &[u32]) -> Option<EndlessLoop> {
        let frame = |line: &u32| Frame {
            line: SourceLine::of_program(*line),
            ..Frame::default()
        };
        let mut failure: Vec<Frame> = frames.iter().map(frame).collect();
        failure.last_mut()?.loops = true;
        let lines = 1..=text.lines().count() as u32;
        let hits = lines.map(|line| {
            let is_in_loop = frames.iter().max() != Some(&line) || frames.len() == 1;
            let is_in_loop = is_in_loop && frames.last().is_some_and(|first| line >= *first);
            let line = SourceLine::of_program(line);
            (line, if is_in_loop { 99 } else { 1 })
        });
        let evidence = Evidence {
            failure,
            hits: hits.collect(),
            ..Evidence::default()
        };
        EndlessLoop::of(&Program::parse(text).unwrap(), &evidence, "")
    }

    #[track_caller]
    fn check(text: &str, frames: &[u32], operations: &str, repeated: &str) {
        let found = looping(text, frames).unwrap();
        let join = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(join(&found.operations), operations, "{text}");
        assert_eq!(join(&found.repeated), repeated, "{text}");
    }

    #[test]
    fn loops_depend_on_what_would_end_them() {
        check(
            "x = float('0')\nwhile x != 1.0:\n    x += 0.1\n    print(len('a'))\n",
            &[2],
            "!= + float()",
            "0.1 1.0",
        );
        check(
            "def f(n):\n    if n > 3: pass\n    while True:\n        n = abs(n)\n        for y in z():\n            break\n        if n < 0:\n            return y\nf(5)\n",
            &[9, 3],
            "< abs()",
            "0 True",
        );
        check("for x in count(2):\n    sum(x)\n", &[1], "count()", "2");
        assert!(looping("x = 1\nwhile x:\n    pass\n", &[1]).is_none_or(|found| found.is_empty()));
    }

    #[test]
    fn a_loop_that_lost_its_step_goes_on_for_another_reason() {
        let known = looping("x = 0.0\nwhile x != 1.0:\n    x += 0.1\n", &[2]).unwrap();
        let check = |text: &str, frame: u32, expected: bool| {
            let candidate = looping(text, &[frame]).unwrap();
            assert_eq!(known.goes_on_in(&candidate), expected, "{text}");
        };
        check("x = 0.0\nEND = 1.0\nwhile x != END: x += 0.1\n", 3, true);
        check("x = 5.0\nwhile x != 1.0:\n    x += 0.1\n", 2, false);
        check("x = 0.0\nwhile x != 1.0:\n    x += 0\n", 2, false);
        check("x = 0.0\nwhile x != 1.0:\n    pass\n", 2, false);
        check("while 1.0:\n    pass\n", 1, false);
    }
}
