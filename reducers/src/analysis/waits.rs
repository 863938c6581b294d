//! How long a program waits, and what others do for what it waits for. Who waits for nothing, or no
//! time at all, waits in vain, whatever the others do. Goes by names. Called by the judge; proposes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    calls::callee_name,
    observation::{Observation, marked},
};
use crate::syntax::{
    Program, Ranged,
    ast::{Expr, ExprCall},
};

/// The mark of what a run writes down about a time limit.
const LIMIT: &str = "limit of ";

/// The mark of methods that it calls.
const CALLED: &str = "called ";

/// The functions that get a time limit by position, and the position.
const BY_POSITION: [(&str, usize); 7] = [
    ("acquire", 1),
    ("get", 1),
    ("join", 0),
    ("poll", 0),
    ("result", 0),
    ("wait", 0),
    ("wait_for", 1),
];

/// The name of such an argument.
const BY_NAME: &str = "timeout";

/// The methods that end a wait, in rows of those that do the same: things are put in, taken out, said to
/// be done; an event is set, a message sent, a result given.
const ENDING: [&[&str]; 6] = [
    &["put", "put_nowait"],
    &["get", "get_nowait"],
    &["task_done"],
    &["set", "notify", "notify_all"],
    &["send", "send_bytes"],
    &["set_result", "set_exception"],
];

/// The shortest limit of each function that gets one, in seconds.
pub type TimeLimits = BTreeMap<String, f64>;

/// What makes a program write down its time limits, and which methods it calls that end waits.
pub fn waiting(program: &Program) -> Observation {
    let mut observation = Observation::default();
    for call in calls(program) {
        let Some(name) = callee_name(&call.func) else {
            continue;
        };
        let by_position = BY_POSITION.iter().find(|(known, _)| *known == name);
        let by_position = by_position.and_then(|(_, place)| call.arguments.args.get(*place));
        let named = call.arguments.keywords.iter();
        let mut by_name = named.filter(|keyword| {
            let name = keyword.arg.as_deref();
            name == Some(BY_NAME)
        });
        let limit = by_position.or_else(|| by_name.next().map(|keyword| &keyword.value));
        if let Some(limit) = limit.filter(|limit| !limit.is_starred_expr()) {
            observation.value(limit.range(), &format!("{LIMIT}{name}"));
        }
        // A function of the script's own with such a name ends no wait.
        let row = ENDING.iter().find(|row| row.contains(&name));
        if let (Some([first, ..]), Expr::Attribute(method)) = (row, &*call.func) {
            observation.before(method.value.range(), &format!("{CALLED}{first}"));
        }
    }
    observation
}

/// The limits that a run writes down.
pub fn limits(stderr: &str) -> TimeLimits {
    let mut found = TimeLimits::new();
    for (mark, value) in marked(stderr) {
        if let Some(name) = mark.strip_prefix(LIMIT)
            && let Ok(limit) = value.parse::<f64>()
        {
            let shortest = found.entry(name.to_owned()).or_insert(limit);
            *shortest = shortest.min(limit);
        }
    }
    found
}

/// Whether some limits are no shorter than others.
pub fn are_no_shorter(known: &TimeLimits, its: &TimeLimits) -> bool {
    its.iter()
        .all(|(name, limit)| known.get(name).is_none_or(|known| known <= limit))
}

/// The methods that a run calls that end waits, by the first of each row.
pub fn ending(stderr: &str) -> BTreeSet<String> {
    let called = marked(stderr).filter_map(|(mark, _)| mark.strip_prefix(CALLED));
    called.map(str::to_owned).collect()
}

/// The calls of a program.
fn calls(program: &Program) -> impl Iterator<Item = &ExprCall> {
    let nodes = program.tree().nodes.iter();
    nodes.filter_map(|node| node.node.as_expr_call().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_calls_are_written_down() {
        let text = "wait_for(q.join(), LIMIT)\np.wait(timeout=2)\nq.get_nowait(*a)\nget(1)\n";
        let program = Program::parse(text).unwrap();
        let text = waiting(&program).text(&program).unwrap();
        for part in [
            "\"limit of wait_for\", LIMIT)",
            "\"limit of wait\", 2)",
            "\"called get\"), q)[1].get_nowait(*a)",
            "\nget(",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn limits_are_not_shortened() {
        let of = |pairs: &[(&str, &str)]| {
            let lines = pairs
                .iter()
                .map(|(name, value)| format!("\u{1e}limit of {name}\u{1f}{value}\u{1e}\n"));
            limits(&lines.collect::<String>())
        };
        let known = of(&[("wait", "0.4"), ("wait", "2"), ("get", "None")]);
        assert!(are_no_shorter(
            &known,
            &of(&[("wait", "0.4"), ("get", "0")])
        ));
        assert!(!are_no_shorter(
            &known,
            &of(&[("wait", "3"), ("wait", "0.3")])
        ));
        let called = ending("\u{1e}called get\u{1f}ran\u{1e}\n");
        assert_eq!(called, ["get".to_owned()].into());
    }
}
