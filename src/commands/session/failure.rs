//! Why the script's own runs cannot be the base of a reduction, with the observations and what the
//! user can do.

use minrepro_reducers::analysis::names::ImportedNames;

use super::{
    Session,
    obstruction::{self, Obstruction},
    setup::{PROCESSES, SCRATCH},
};
use crate::{
    cli::{Exit, Failure},
    judge::BaselineFailure,
    oracle::{BaselineError, NotDerivable, Obstacle, forbidden_anywhere, summary},
    runner::{End, FILES, Outcome, Resource},
};

impl Session {
    /// Why the script's own runs cannot be the base of a reduction, and what the user can do.
    pub(in crate::commands) fn failure(&self, failure: BaselineFailure) -> Failure {
        match failure {
            BaselineFailure::Run(error) => error.into(),
            error @ BaselineFailure::Unended => Failure::new(Exit::Stopped, error).hint(
                "if that is the bug, name it: `--signature timeout`; if not, allow more with `--max-time TIME`",
            ),
            BaselineFailure::NotReproduced { error, first } => {
                self.not_reproduced(*error, first.as_deref())
            }
            BaselineFailure::Obstructed { obstacle, first } => self.obstructed(&obstacle, &first),
            BaselineFailure::ShowsUnderControl { name, outcome } => {
                let mut failure =
                    Failure::usage(format!("the bug shows under the control `{name}` as well"))
                        .hint("name a control under which the script does not show it");
                failure.details = self.shown(&outcome);
                failure
            }
            BaselineFailure::FailsUnderControl { name, outcome } => {
                let mut failure =
                    Failure::usage(format!("the script does not succeed under `{name}`"))
                        .hint("does that interpreter have all packages that the script imports?");
                failure.details = self.shown(&outcome);
                failure
            }
            BaselineFailure::NotInteresting { same, of, other } => {
                let test = self.args.test.as_deref().unwrap_or_default();
                let exit = if same == 0 {
                    Exit::NotReproduced
                } else {
                    Exit::Unstable
                };
                let mut failure = Failure::new(
                    exit,
                    anyhow::anyhow!(
                        "the test `{test}` finds the script interesting in {same} of {of} runs"
                    ),
                )
                .hint(
                    "a test exits with 0 while the file that is its last argument is interesting",
                );
                failure.details = self.shown(&other);
                failure
            }
            error @ BaselineFailure::NotWarm(_) => Failure::new(Exit::Environment, error)
                .hint("`--runner auto` runs them in fresh interpreters where it must"),
        }
    }

    /// Expected and seen side by side, then all of one run.
    pub(in crate::commands) fn not_reproduced(
        &self,
        error: BaselineError,
        shown: Option<&Outcome>,
    ) -> Failure {
        let (exit, expected, seen, hint) = match &error {
            BaselineError::NotReproduced { expected, seen } => (
                Exit::NotReproduced,
                Some(expected),
                seen,
                "give a signature that fits this failure, or the interpreter that shows the bug: `--python PATH`",
            ),
            BaselineError::Unstable { expected, seen, .. } => (
                Exit::Unstable,
                Some(expected),
                seen,
                "seed random values in the script, or give `--env`, `--timeout` or a looser signature; `minrepro check` shows how steady it is",
            ),
            BaselineError::NotDerivable {
                reason: NotDerivable::Endless,
                seen,
            } if shown.is_some_and(|shown| shown.end == End::Limit(Resource::Processes)) => (
                Exit::NotReproduced,
                None,
                seen,
                "let the script start fewer processes; this limit cannot be raised",
            ),
            BaselineError::NotDerivable {
                reason: NotDerivable::Endless,
                seen,
            } => (
                Exit::NotReproduced,
                None,
                seen,
                "give it more by `--timeout TIME` or `--memory SIZE`; if it never ends, and that is the bug: `--signature timeout`",
            ),
            BaselineError::NotDerivable { seen, .. } => (
                Exit::NotReproduced,
                None,
                seen,
                "describe the bug: `--signature \"stdout:TEXT\"`, or a test: `--test CMD`",
            ),
        };
        let mut details = Vec::new();
        if let Some(expected) = expected.filter(|text| !text.is_empty()) {
            details.push(format!("expected: {expected}"));
        }
        let runs: usize = seen.iter().map(|(_, count)| count).sum();
        for (number, (line, count)) in seen.iter().enumerate() {
            let lead = if number == 0 {
                "seen:    "
            } else {
                "         "
            };
            details.push(format!("{lead} {line} ({count} of {runs} runs)"));
        }
        details.extend(shown.map(|outcome| self.shown(outcome)).unwrap_or_default());
        let forbidden = shown
            .and_then(forbidden_anywhere)
            .filter(|access| self.subject.is_forbidden(*access));
        let mut failure = Failure::new(exit, error);
        failure = match forbidden {
            Some(access) => failure.hint(format!(
                "confinement may be the reason: {}",
                obstruction::remedy(access, None)
            )),
            None if exit == Exit::NotReproduced && self.has_one_thread() => failure.hint(format!(
                "{hint}; if it takes several threads: `--env OMP_NUM_THREADS=4`"
            )),
            None => failure.hint(hint),
        };
        failure.details = details;
        failure
    }

    /// Whether packages that may use several threads are kept from that for no reason of the
    /// user's.
    fn has_one_thread(&self) -> bool {
        let set = self.subject.runner.environment_difference().set;
        let is_set = set.iter().any(|(name, _)| name == "OMP_NUM_THREADS");
        is_set && ImportedNames::of(self.subject.program.tree()).has_installed()
    }

    /// The reason why the script did not reach its bug, and how to go on.
    pub(in crate::commands) fn obstructed(&self, obstacle: &Obstacle, first: &Outcome) -> Failure {
        let Obstruction { exit, what, hint } = obstruction::of(obstacle);
        let mut failure = Failure::new(exit, anyhow::anyhow!(what)).hint(hint);
        let specs = self.subject.settings.specs.iter();
        let named: Vec<&str> = specs.map(|spec| spec.text.as_str()).collect();
        if !named.is_empty() {
            failure.details = vec![format!("expected: {}", named.join(" and "))];
        }
        failure
            .details
            .push(format!("seen:     {}", summary(first)));
        failure.details.extend(self.shown(first));
        failure
    }

    /// A run in full: the command, its folder, its end, both outputs, and how to run it by hand.
    fn shown(&self, outcome: &Outcome) -> Vec<String> {
        let mut lines = vec![
            String::new(),
            format!("command: {}", self.original()),
            "folder:  a scratch copy of the script's folder".to_owned(),
            format!("bounds:  {}", self.subject.runner.bounds()),
            format!("end:     {}", summary(outcome)),
        ];
        if let End::Limit(resource) = outcome.end {
            lines.push(format!("limit:   {}", self.limit(resource)));
        }
        for (name, stream) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            if stream.is_empty() {
                lines.push(format!("{name}:  (empty)"));
                continue;
            }
            lines.push(format!("{name}:"));
            let text = stream.text();
            let all: Vec<&str> = text.lines().collect();
            let from = all.len().saturating_sub(15);
            if from > 0 {
                lines.push(format!("  [... {from} lines ...]"));
            }
            lines.extend(all[from..].iter().map(|line| format!("  {line}")));
        }
        lines.push(format!("by hand: {}", self.in_folder(&self.original())));
        lines
    }

    /// The limit of a resource for a run with all its processes.
    fn limit(&self, resource: Resource) -> String {
        let bytes = |bytes: u64| bytesize::ByteSize(bytes).display().iec().to_string();
        match resource {
            Resource::Memory => format!("{} of memory", bytes(self.memory)),
            Resource::Processes => format!("{PROCESSES} processes at a time"),
            Resource::Scratch => format!("{} of files, or {FILES} of them", bytes(SCRATCH)),
        }
    }
}
