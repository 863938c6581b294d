//! Where a program hangs, beyond the call that its main thread is in. Most waits end in the same
//! few functions of the standard library, so the path to them counts. If a program waits for
//! another thread or process to end, the place where that one waits counts, too. Plain data.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::{
    crash_site::calls,
    raise_site::{is_own, short_path},
};
use crate::runner::{End, Exception, Outcome, TracebackFrame};

/// Functions that wait for the end of a thread or process, each with the library function in which
/// the wait ends.
const ENDS: &[(&str, &[&str])] = &[
    (
        "threading.py",
        &["join", "_wait_for_tstate_lock", "_shutdown"],
    ),
    ("popen_fork.py", &["poll", "wait"]),
    ("subprocess.py", &["_try_wait", "_wait", "wait"]),
];

/// Where a program hangs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangPlace {
    /// Where the main thread is held up.
    main: Hold,
    /// Where the other threads and processes are held up, if the main thread waits for their end.
    others: Vec<Hold>,
    /// The library function that raised the exception that ended a thread or was printed, or the
    /// class of an exception of the script's own. The thread that died may be the one that the
    /// others wait for.
    raised: Option<String>,
}

/// Where a thread is held up: the library functions that it is in below the script's own, the
/// outermost first; without any, the functions that the script's line calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hold {
    path: Vec<String>,
    calls: BTreeSet<String>,
}

impl HangPlace {
    /// The place that all outcomes share. For the threads and processes that the main thread waits
    /// for, the places that any outcome shows, since not every process has the time to say where it
    /// is.
    pub(super) fn common(outcomes: &[&Outcome]) -> Option<Self> {
        let places: Option<Vec<Self>> = outcomes.iter().map(|outcome| Self::of(outcome)).collect();
        let mut places = places?.into_iter();
        let mut common = places.next()?;
        for place in places {
            if place.main != common.main || place.raised != common.raised {
                return None;
            }
            let kept = |hold: &Hold| {
                let [known, its] = [&common.others, &place.others].map(|all| count(all, hold));
                if known.min(its) == 0 {
                    known.max(its).min(1)
                } else {
                    known.min(its)
                }
            };
            let mut others: Vec<Hold> = Vec::new();
            for hold in common.others.iter().chain(&place.others) {
                if count(&others, hold) == 0 {
                    others.extend(vec![hold.clone(); kept(hold)]);
                }
            }
            common.others = others;
        }
        Some(common)
    }

    /// How the place of an outcome differs from this one, in words; none if it does not.
    pub(super) fn mismatch(&self, outcome: &Outcome) -> Option<String> {
        if outcome.end != End::Timeout {
            return None;
        }
        let Some(its) = Self::of(outcome) else {
            return Some("it is not known where it hangs".to_owned());
        };
        if !self.main.is_as(&its.main) {
            return Some(format!("it hangs in {}, not in {}", its.main, self.main));
        }
        if let Some(raised) = self.raised.as_ref().filter(|_| self.raised != its.raised) {
            return Some(format!("it hangs without an exception from {raised}"));
        }
        if self.others.is_empty() {
            return None;
        }
        // One of many that wait alike may go, but one alone does not wait for its like.
        let differs =
            |hold: &&Hold| count(&its.others, hold) < count(&self.others, hold).clamp(1, 2);
        let is_other = |hold: &&Hold| count(&self.others, hold) == 0 || differs(hold);
        match its.others.iter().find(is_other) {
            Some(other) => Some(format!("it waits for what hangs in {other}")),
            None => its
                .others
                .is_empty()
                .then(|| "the thread or process that it waits for does not hang".to_owned()),
        }
    }

    fn of(outcome: &Outcome) -> Option<Self> {
        // The script is known by the main thread's first frame; other threads do not begin there.
        let script = Exception {
            frames: outcome.stack.first().into_iter().cloned().collect(),
            ..Exception::default()
        };
        let main = Hold::of(&outcome.stack, &script)?;
        let mut others = Vec::new();
        if main.is_for_end() {
            let stacks = outcome.other_stacks.iter();
            others.extend(stacks.filter_map(|stack| Hold::of(stack, &script)));
        }
        let exception = outcome.exception.as_ref();
        Some(Self {
            main,
            others,
            raised: exception.map(raised_by),
        })
    }
}

impl Hold {
    fn of(stack: &[TracebackFrame], script: &Exception) -> Option<Self> {
        let last = stack.last()?;
        let own = stack.iter().rposition(|frame| is_own(script, frame));
        let below = &stack[own.map_or(0, |own| own + 1)..];
        let name = |frame: &TracebackFrame| {
            let file = short_path(script, frame);
            (file, frame.function.clone())
        };
        let mut path: Vec<(String, String)> = below.iter().map(name).collect();
        // Versions of Python differ in how a join ends.
        while path.len() > 1
            && path
                .last()
                .is_some_and(|(_, of)| of == "_wait_for_tstate_lock")
        {
            path.pop();
        }
        if let [(file, of)] = path.as_mut_slice()
            && file == "threading.py"
            && of == "_shutdown"
        {
            // If a program does not wait for a thread itself, the interpreter waits for it at its
            // end.
            "join".clone_into(of);
        }
        Some(Self {
            calls: if path.is_empty() {
                calls(&last.code)
            } else {
                BTreeSet::new()
            },
            path: path
                .into_iter()
                .map(|(file, of)| format!("{file}, {of}()"))
                .collect(),
        })
    }

    /// Whether the wait is for the end of a thread or process.
    fn is_for_end(&self) -> bool {
        let Some(last) = self.path.last() else {
            return self.calls.iter().any(|call| call.starts_with("wait"));
        };
        ENDS.iter().any(|(file, functions)| {
            functions
                .iter()
                .any(|function| last.ends_with(&format!("{file}, {function}()")))
        })
    }

    fn is_as(&self, its: &Self) -> bool {
        let is_alike = self.calls.is_empty() && its.calls.is_empty();
        self.path == its.path && (is_alike || !self.calls.is_disjoint(&its.calls))
    }
}

/// The origin of an exception: a library function, or the script, which gave it its class.
fn raised_by(exception: &Exception) -> String {
    match exception.frames.last() {
        Some(last) if !is_own(exception, last) => {
            format!("{}, {}()", short_path(exception, last), last.function)
        }
        _ => format!("the script: {}", exception.short_class()),
    }
}

/// How many threads are held up like one.
fn count(holds: &[Hold], like: &Hold) -> usize {
    holds.iter().filter(|hold| hold.is_as(like)).count()
}

impl fmt::Display for Hold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls.iter().map(|call| format!("{call}()"));
        let parts: Vec<String> = self.path.iter().cloned().chain(calls).collect();
        match parts.as_slice() {
            [] => formatter.write_str("a line without calls"),
            parts => formatter.write_str(&parts.join(" > ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Captured, Timing};

    /// Stacks as `FILE FUNCTION CODE`, outermost frame first; the main thread's first.
    fn outcome(stacks: &[&[&str]]) -> Outcome {
        let frame = |text: &&str| {
            let mut words = text.splitn(3, ' ').map(str::to_owned);
            TracebackFrame {
                file: words.next().unwrap_or_default(),
                line: 1,
                function: words.next().unwrap_or_default(),
                code: words.next().unwrap_or_default(),
            }
        };
        let stack = |stack: &&[&str]| -> Vec<_> { stack.iter().map(frame).collect() };
        let mut stacks = stacks.iter().map(stack);
        Outcome {
            end: End::Timeout,
            timing: Timing::default(),
            stdout: Captured::default(),
            stderr: Captured::default(),
            exception: None,
            stack: stacks.next().unwrap_or_default(),
            other_stacks: stacks.collect(),
            trace: None,
        }
    }

    fn differs(known: &[&[&str]], its: &[&[&str]]) -> bool {
        let known = HangPlace::common(&[&outcome(known)]).unwrap();
        known.mismatch(&outcome(its)).is_some()
    }

    const SCRIPT: &str = "/s/x.py <module> thread.join()";
    const JOIN: &str = "/usr/lib/python3.11/threading.py join";
    const LOCK: &str = "/usr/lib/python3.11/threading.py _wait_for_tstate_lock";
    const RUN: &str = "/usr/lib/python3.11/threading.py run";
    const WITH: &str = "/s/x.py work with lock:";
    const BARRIER: &str = "/s/x.py work barrier.wait()";
    const WAIT: &str = "/usr/lib/python3.11/threading.py wait";

    #[test]
    fn waits_are_told_apart_by_what_the_script_called() {
        let queue: &[&str] = &[SCRIPT, "/usr/lib/python3.11/queue.py join", WAIT];
        let event: &[&str] = &[SCRIPT, WAIT, WAIT];
        assert!(!differs(&[queue], &[queue]));
        assert!(differs(&[queue], &[event]));
        assert!(differs(&[event], &[&[SCRIPT, WAIT]]));
        // Of its own functions nothing is left, and the queue is the same.
        let inner: &[&str] = &[SCRIPT, "/s/x.py f q.join()", queue[1], WAIT];
        assert!(!differs(&[inner], &[queue]));
    }

    #[test]
    fn where_the_end_of_threads_is_waited_for_what_holds_them_up_counts() {
        let main: &[&str] = &[SCRIPT, JOIN, LOCK];
        let with: &[&str] = &[RUN, WITH];
        let barrier: &[&str] = &[RUN, BARRIER, WAIT];
        let two = [main, with, with];
        assert!(!differs(&two, &two));
        assert!(!differs(&[main, with, with, with], &two));
        assert!(differs(&two, &[main, with]));
        assert!(differs(&two, &[main, barrier, barrier]));
        assert!(differs(&two, &[main]));
        assert!(!differs(&[main, with, barrier], &[main, barrier]));
        // The interpreter waits for threads at its end as the script did.
        let end: &[&str] = &["/usr/lib/python3.11/threading.py _shutdown"];
        assert!(!differs(&[&[SCRIPT, JOIN], with], &[end, with]));
    }
}
