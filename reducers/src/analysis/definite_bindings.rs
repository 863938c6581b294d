//! Definite assignment: whether the local variables of functions are bound on every way to where
//! they are read. A run takes one way; a compiler that reads both branches of an `if` refuses a
//! variable that one of them leaves out, with good reason. Loops count as run at least once, and
//! nested functions are not followed. Called by the judge, which compares a candidate with the
//! script; proposes nothing.

use std::collections::BTreeSet;

use crate::syntax::{
    AnyNodeRef, Program,
    ast::{
        Alias, ExceptHandler, Expr, ExprContext, Pattern, Stmt, StmtFunctionDef, StmtIf, StmtMatch,
        StmtTry,
        visitor::{self, Visitor},
    },
};

/// Whether a function reads a local variable that some way to the reading does not bind.
pub fn reads_unbound(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut functions = nodes.filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(function) => Some(function),
        _ => None,
    });
    functions.any(|function| {
        let mut flow = Flow::into(function);
        flow.visit_body(&function.body);
        flow.is_unbound_read
    })
}

/// The variables that are bound for certain at a place, or that none can come there.
type Bound = Option<BTreeSet<String>>;

/// What is bound where two ways meet.
fn joined(one: Bound, other: Bound) -> Bound {
    match (one, other) {
        (Some(one), Some(other)) => Some(&one & &other),
        (one, other) => one.or(other),
    }
}

/// A walk through a function in the order in which it runs.
struct Flow {
    /// The names that the function binds anywhere.
    locals: BTreeSet<String>,
    bound: Bound,
    is_unbound_read: bool,
}

impl Flow {
    fn into(function: &StmtFunctionDef) -> Self {
        let mut own = Locals::default();
        own.visit_body(&function.body);
        let parameters = function.parameters.iter();
        Self {
            locals: &own.bound - &own.declared,
            bound: Some(parameters.map(|each| each.name().id.to_string()).collect()),
            is_unbound_read: false,
        }
    }

    fn bind(&mut self, name: &str) {
        if let Some(bound) = &mut self.bound {
            bound.insert(name.to_owned());
        }
    }

    fn read(&mut self, name: &str) {
        let bound = self.bound.as_ref();
        self.is_unbound_read |=
            self.locals.contains(name) && bound.is_some_and(|bound| !bound.contains(name));
    }

    /// Walks through a body from a state, and gives the state at its end.
    fn through(&mut self, body: &[Stmt], from: Bound) -> Bound {
        let before = std::mem::replace(&mut self.bound, from);
        self.visit_body(body);
        std::mem::replace(&mut self.bound, before)
    }

    fn choice(&mut self, choice: &StmtIf) {
        self.visit_expr(&choice.test);
        let mut end = self.through(&choice.body, self.bound.clone());
        let mut is_whole = false;
        for clause in &choice.elif_else_clauses {
            if let Some(test) = &clause.test {
                self.visit_expr(test);
            }
            is_whole |= clause.test.is_none();
            end = joined(end, self.through(&clause.body, self.bound.clone()));
        }
        self.bound = if is_whole {
            end
        } else {
            joined(end, self.bound.take())
        };
    }

    fn matching(&mut self, matching: &StmtMatch) {
        self.visit_expr(&matching.subject);
        let mut end = None;
        let mut is_whole = false;
        for case in &matching.cases {
            let before = self.bound.clone();
            self.visit_pattern(&case.pattern);
            if let Some(guard) = &case.guard {
                self.visit_expr(guard);
            }
            is_whole |= case.guard.is_none() && case.pattern.is_irrefutable();
            end = joined(end, self.through(&case.body, self.bound.clone()));
            self.bound = before;
        }
        self.bound = if is_whole {
            end
        } else {
            joined(end, self.bound.take())
        };
    }

    fn trying(&mut self, trying: &StmtTry) {
        let before = self.bound.clone();
        self.visit_body(&trying.body);
        self.visit_body(&trying.orelse);
        let mut end = self.bound.take();
        for handler in &trying.handlers {
            let Some(handler) = handler.as_except_handler() else {
                continue;
            };
            self.bound.clone_from(&before);
            if let Some(name) = &handler.name {
                self.bind(&name.id);
            }
            self.visit_body(&handler.body);
            end = joined(end, self.bound.take());
        }
        self.bound = end;
        self.visit_body(&trying.finalbody);
    }
}

impl<'a> Visitor<'a> for Flow {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(&def.name.id),
            Stmt::ClassDef(def) => self.bind(&def.name.id),
            Stmt::If(choice) => self.choice(choice),
            Stmt::Match(matching) => self.matching(matching),
            Stmt::Try(trying) => self.trying(trying),
            Stmt::AugAssign(change) => {
                if let Expr::Name(name) = &*change.target {
                    self.read(&name.id);
                }
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let mut own = Locals::default();
                own.visit_stmt(stmt);
                own.bound.iter().for_each(|name| self.bind(name));
            }
            Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_) => {
                visitor::walk_stmt(self, stmt);
                self.bound = None;
            }
            // Within a function, the annotation is not evaluated.
            Stmt::AnnAssign(annotated) => {
                if let Some(value) = &annotated.value {
                    self.visit_expr(value);
                    self.visit_expr(&annotated.target);
                }
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => self.read(&name.id),
                ExprContext::Store => self.bind(&name.id),
                ExprContext::Del | ExprContext::Invalid => {}
            },
            own if binds_for_itself(own) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let mut own = Locals::default();
        own.visit_pattern(pattern);
        own.bound.iter().for_each(|name| self.bind(name));
    }
}

/// Whether what an expression binds is its own.
fn binds_for_itself(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Lambda(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
    )
}

/// The names that a body binds, and those that it declares to be bound elsewhere.
#[derive(Default)]
struct Locals {
    bound: BTreeSet<String>,
    declared: BTreeSet<String>,
}

impl<'a> Visitor<'a> for Locals {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.bound.insert(def.name.id.to_string());
            }
            Stmt::ClassDef(def) => {
                self.bound.insert(def.name.id.to_string());
            }
            Stmt::Global(of) => self
                .declared
                .extend(of.names.iter().map(ToString::to_string)),
            Stmt::Nonlocal(of) => self
                .declared
                .extend(of.names.iter().map(ToString::to_string)),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name);
        let first = name.split('.').next().unwrap_or_default();
        self.bound.insert(first.to_owned());
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let name = handler
            .as_except_handler()
            .and_then(|handler| handler.name.as_ref());
        self.bound.extend(name.map(ToString::to_string));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(bound) => bound.name.as_ref(),
            Pattern::MatchStar(bound) => bound.name.as_ref(),
            Pattern::MatchMapping(bound) => bound.rest.as_ref(),
            _ => None,
        };
        self.bound.extend(name.map(ToString::to_string));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store => {
                self.bound.insert(name.id.to_string());
            }
            own if binds_for_itself(own) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, bodies: &[&str]) {
        for body in bodies {
            let text = format!("def f(self, flag):\n    {}\n", body.replace('\n', "\n    "));
            let program = Program::parse(text.clone()).unwrap();
            assert_eq!(reads_unbound(&program), expected, "{text}");
        }
    }

    #[test]
    fn a_branch_may_leave_a_variable_unbound() {
        let unbound = [
            "if flag:\n    x = 1\nreturn x",
            "if flag:\n    x = 1\nelse:\n    y = 1\nreturn x",
            "if flag:\n    x = 1\nelif self:\n    x = 2\nfor y in x: pass",
            "if flag: import x\nx.y()",
            "if flag: x = 1\nx += 1",
            "try: g()\nexcept ValueError: x = 1\nreturn x",
            "match flag:\n    case [x, 0]: pass\n    case 1: x = 2\nreturn x",
            "y = x\nx = 1",
        ];
        check(true, &unbound);
    }

    #[test]
    fn every_way_may_bind_it() {
        let bound = [
            "if flag:\n    x = 1\nelse:\n    x = 2\nreturn x",
            "if flag:\n    x = 1\nelse:\n    raise g()\nreturn x",
            "if flag:\n    return 1\nelif self:\n    x = 2\nelse:\n    x = 3\nreturn x",
            "for x in flag: y = x\nreturn x, y",
            "try:\n    x = 1\nexcept ValueError as e:\n    raise e\nreturn x",
            "with g() as (x, *y): pass\nreturn x, y",
            "match flag:\n    case [x, 0]: pass\n    case x: pass\nreturn x",
            "x: int = 1\ny: int\nreturn x, [z for z in x]",
            "def g(): return y\ny = g()\nreturn x",
            "global x\nif flag: x = 1\nreturn x",
            "import a.b as c, d.e\nreturn c, d, (w := 1), w",
        ];
        check(false, &bound);
    }
}
