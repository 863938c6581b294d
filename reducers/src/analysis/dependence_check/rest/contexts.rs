//! Contexts: what runs in one counts if somebody reads it later, and a generator may hold one open while
//! others run. Called by the growth of the slice.

use super::Rest;
use crate::syntax::{ast::StmtWith, scope::Variable};

impl Rest<'_, '_> {
    /// Follows what runs in a context, if its variable is read later: a profile, a record of warnings
    /// or an expected exception holds what happened there.
    pub(super) fn grow_by_contexts(&mut self, variable: &Variable) {
        for binding in &variable.bindings {
            let Some(context) = self.graph.executed(binding.statement) else {
                continue;
            };
            let range = self.outline.statements[context].range;
            let mut uses = variable.uses.iter();
            if self.outline.statements[context].node.is_stmt_with()
                && uses.any(|of_it| range.end() <= of_it.range.start())
            {
                let within = self.outline.within(context);
                let outline = self.outline;
                self.todo
                    .extend(within.filter(|&at| outline.statements[at].is_executed));
            }
        }
    }

    /// Whether a generator holds a context open while others run: it yields what it does not read of
    /// the context.
    pub(super) fn is_held_open(&self, index: usize, with: &StmtWith) -> bool {
        let outline = self.outline;
        let function = outline.function_of(index);
        let def = function.and_then(|at| outline.statements[at].node.as_stmt_function_def());
        let variables = self.outline.program.scopes().bound_by(with.range);
        let of_context = |variable: &usize| {
            let bindings = &outline.program.scopes().variables[*variable].bindings;
            let mut items = with.items.iter();
            items.any(|item| {
                let mut bindings = bindings.iter();
                bindings.any(|binding| item.range.contains_range(binding.range))
            })
        };
        let variables: Vec<usize> = variables.iter().copied().filter(of_context).collect();
        let reads = |at: usize| {
            let mut reads = outline.statements[at].reads.iter();
            reads.any(|(variable, _)| variables.contains(variable))
        };
        // A generator that is a context itself gives nothing.
        let yields = |at: &usize| {
            let within = &outline.statements[*at];
            within.yields && within.is_executed && outline.function_of(*at) == function
        };
        let mut yields = outline.within(index).filter(yields).peekable();
        def.is_some_and(|def| def.decorator_list.is_empty())
            && yields.peek().is_some()
            && yields.all(|at| {
                let mut around = outline.ancestors(at).take_while(|&around| around != index);
                !reads(at) && !around.any(reads)
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::dependence_check::{ReportSite, operations},
        syntax::Program,
    };

    #[test]
    fn a_generator_holds_a_context_open() {
        let is_held = |text: &str| {
            let program = Program::parse(text).unwrap();
            let site = ReportSite::Raised(vec![text.lines().count() as u32]);
            let found = operations(&program, &site, None);
            found.iter().any(|its| its.contains("with yield"))
        };
        let held = "def rows(x):\n    with lib.low() as low:\n        low.digits = 4\n        for each in x:\n            yield each\nassert sum(rows(y)) == 3\n";
        assert!(is_held(held));
        assert!(!is_held(&held.replace("for each in x", "for each in low")));
        assert!(!is_held(&held.replace("yield each", "return each")));
        assert!(!is_held(&held.replace("def rows", "@context\ndef rows")));
    }
}
