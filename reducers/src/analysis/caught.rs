//! The exceptions that a program catches before it reports a failure itself: `except Exception:
//! print("failed")` says the same of any exception. Goes by names, as slices do. Called by the
//! judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_check::{ReportSite, Rest, told, writes_out},
        observation::{Observation, marked},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{ExceptHandler, StmtTry, name::Name},
    },
};

/// What makes a program write down the exceptions that decide its report: those of the handlers
/// around a reporting statement, of each `try` statement that sets a value that it reads, and of
/// handlers that compute something on which it depends. If no statement writes the report's words
/// out, they are the message of an exception, which any handler may have passed on.
pub fn catching(program: &Program, report_site: &ReportSite) -> Observation {
    if let ReportSite::Words(words) = report_site
        && !writes_out(program, words)
    {
        let mut observation = Observation::default();
        for node in &program.tree().nodes {
            if let AnyNodeRef::ExceptHandlerExceptHandler(handler) = node.node {
                observation.exception(&handler.body);
            }
        }
        return observation;
    }
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let conditions = Rest::of(tree, nodes).conditions_of(&frames);
        let reporting = frames.last().copied();
        let rest = Rest::of(tree, nodes).of_frames(frames);
        let deciding: Vec<TextRange> = rest
            .statements()
            .chain(reporting)
            .map(|statement| tree.statements[statement].range)
            .collect();
        let read: BTreeSet<&Name> = reporting
            .iter()
            .chain(&conditions)
            .flat_map(|&statement| &nodes[statement])
            .filter_map(|node| Some(&node.as_expr_name()?.id))
            .collect();
        let tries = tree
            .statements
            .iter()
            .filter_map(|statement| match statement.node {
                AnyNodeRef::StmtTry(attempt) => Some(attempt),
                _ => None,
            });
        let mut observation = Observation::default();
        for handler in tries.flat_map(|attempt| handlers(tree, attempt, &deciding, &read)) {
            let ExceptHandler::ExceptHandler(handler) = handler;
            observation.exception(&handler.body);
        }
        observation
    });
    let found = found.into_iter().reduce(Observation::and);
    found.unwrap_or_default()
}

/// Whether a program comes to its report only by a handler: it reports in one, or is led away from the
/// report before by what it tries, if that does not fail.
pub fn reports_only_what_is_caught(program: &Program, report_site: &ReportSite) -> bool {
    let found = told(program, report_site, None, &|tree, _, frames| {
        let Some(&last) = frames.last() else {
            return false;
        };
        let report = tree.statements[last].range;
        let mut tries = (0..tree.statements.len())
            .filter_map(|at| Some((at, *tree.statements[at].node.as_stmt_try()?)));
        tries.any(|(at, attempt)| {
            let mut handlers = attempt.handlers.iter();
            let is_before = attempt.range.end() <= report.start()
                && tree.function_of(at) == tree.function_of(last);
            is_before && leads_away(tree, at, attempt)
                || handlers.any(|handler| handler.range().contains_range(report))
        })
    });
    found.into_iter().any(|is_so| is_so)
}

/// Whether a `try` statement leaves the statements behind it out if it does not fail.
fn leads_away(tree: &StatementTree<'_>, at: usize, attempt: &StmtTry) -> bool {
    let tried = attempt.body.iter().chain(&attempt.orelse);
    let tried: Vec<TextRange> = tried.map(Ranged::range).collect();
    (0..tree.statements.len()).any(|inner| {
        let statement = &tree.statements[inner];
        let leaves = matches!(
            statement.node,
            AnyNodeRef::StmtReturn(_) | AnyNodeRef::StmtBreak(_) | AnyNodeRef::StmtContinue(_)
        );
        leaves
            && tree.function_of(inner) == tree.function_of(at)
            && tried
                .iter()
                .any(|range| range.contains_range(statement.range))
    })
}

/// The tracebacks that such a program wrote down.
pub fn caught(stderr: &str) -> impl Iterator<Item = &str> {
    let shown = marked(stderr).filter(|(what, _)| *what == "caught");
    shown.map(|(_, traceback)| traceback)
}

/// The handlers of a `try` statement that concern a report: those that hold it or something that it
/// depends on, and all if the statement sets a value that the report reads.
fn handlers<'a>(
    tree: &StatementTree<'a>,
    attempt: &'a StmtTry,
    deciding: &[TextRange],
    read: &BTreeSet<&Name>,
) -> Vec<&'a ExceptHandler> {
    let sets = sets_any(tree, attempt.range, read);
    let holds = |handler: &&ExceptHandler| {
        let mut statements = deciding.iter();
        statements.any(|range| handler.range().contains_range(*range))
    };
    let handlers = attempt.handlers.iter();
    handlers.filter(|handler| sets || holds(handler)).collect()
}

/// Whether statements in a range assign one of these names, or call a method of its value.
fn sets_any(tree: &StatementTree<'_>, range: TextRange, names: &BTreeSet<&Name>) -> bool {
    let mut within = tree.program.tree().within(range);
    within.any(|node| match node {
        AnyNodeRef::ExprName(name) => !name.ctx.is_load() && names.contains(&name.id),
        AnyNodeRef::StmtExpr(statement) => {
            let call = statement.value.as_call_expr();
            let method = call.and_then(|call| call.func.as_attribute_expr());
            let object = method.and_then(|method| method.value.as_name_expr());
            object.is_some_and(|object| names.contains(&object.id))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::observation::readable;

    #[track_caller]
    fn check(text: &str, words: &[&str], expected: Option<&str>) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let program = Program::parse(text).unwrap();
        let found = catching(&program, &ReportSite::Words(words)).text(&program);
        let found = found.map(|text| readable(&text).replace("show(\"caught\")", "SHOW"));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn handlers_in_functions_that_the_report_calls_show_what_they_handle() {
        check(
            "def f(g):\n    try:\n        return g()\n    except A as e:\n        return str(e)\n    except B:\n        pass\nif f(x) != f(y):\n    print('lost')\n",
            &["lost"],
            Some(
                "def f(g):\n    try:\n        return g()\n    except A as e:\n        SHOW; return str(e)\n    except B:\n        pass\nif f(x) != f(y):\n    print('lost')\n",
            ),
        );
    }

    #[test]
    fn what_is_tried_may_lead_away_from_the_report() {
        let check = |text: &str, expected: bool| {
            let program = Program::parse(text).unwrap();
            let site = ReportSite::Words(["lost".to_owned()].into());
            assert_eq!(
                reports_only_what_is_caught(&program, &site),
                expected,
                "{text}"
            );
        };
        let retry = |tried: &str| {
            format!(
                "def f(g):\n    for x in y:\n        try:\n            {tried}\n        except A as e:\n            z = e\n    raise B('lost')\nf(g)\n"
            )
        };
        check(&retry("return g()"), true);
        check(&retry("g()"), false);
        check(
            &retry("h = lambda: 1\n            def k(): return 1"),
            false,
        );
        check("try: f()\nexcept A: print('lost')\n", true);
        check(
            "for x in y:\n    try: f()\n    except A: pass\n    else: continue\n    print('lost')\n",
            true,
        );
        check("try: f()\nexcept A: pass\nprint('lost')\n", false);
    }

    #[test]
    fn handlers_around_the_report_show_what_they_handle() {
        check(
            "try:\n    f()\nexcept A: pass\nexcept B as e:\n    if e:\n        print('lost', e)\n",
            &["lost"],
            Some(
                "try:\n    f()\nexcept A: pass\nexcept B as e:\n    if (SHOW, e)[1]:\n        print('lost', e)\n",
            ),
        );
        check(
            "try: f()\nexcept A: print('lost')\n",
            &["lost"],
            Some("try: f()\nexcept A: SHOW; print('lost')\n"),
        );
    }

    #[test]
    fn handlers_that_decide_the_report_do_too() {
        check(
            "errors = []\ntry:\n    f()\nexcept A as e:\n    errors.append(e)\nif errors:\n    print('lost')\n",
            &["lost"],
            Some(
                "errors = []\ntry:\n    f()\nexcept A as e:\n    SHOW; errors.append(e)\nif errors:\n    print('lost')\n",
            ),
        );
        check(
            "try:\n    f()\nexcept A:\n    pass\nprint('lost')\n",
            &["lost"],
            None,
        );
    }

    #[test]
    fn tracebacks_are_read_off_standard_error() {
        let found: Vec<&str> =
            caught("a\u{1e}caught\u{1f}T\n\u{1e}b\u{1e}caught\u{1f}U\u{1e}\n").collect();
        assert_eq!(found, ["T\n", "U"]);
    }
}
