//! What a program passes on: the arguments that its calls give for the parameters of its own
//! functions, and the changes that these functions make in them. Goes by names. Called by the rest
//! of the dependence check.

use super::Nodes;
use crate::{
    analysis::{
        calls::{call_in, callee_name, given},
        dependence_graph::DependenceGraph,
        names::ImportedNames,
        statement_tree::{Change, StatementTree},
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, ExprCall},
        scope::BindingKind,
    },
    torch::producers::moved_by,
};

/// Through how many calls what is passed on is followed.
pub(super) const DEPTH: usize = 4;

/// The calls of a program and the functions that it defines.
pub(super) struct Passing<'r, 'o, 'a> {
    pub(super) tree: &'o StatementTree<'a>,
    pub(super) graph: &'r DependenceGraph<'o, 'a>,
    pub(super) nodes: &'o Nodes<'a>,
    pub(super) imported: &'r ImportedNames<'a>,
}

impl Passing<'_, '_, '_> {
    /// The statements that change what a statement passes to a function of the program or to an
    /// object that a package makes.
    pub(super) fn changes(&self, statement: usize, passed: TextRange) -> Vec<usize> {
        let mut changes = self.changes_within(statement, passed, DEPTH);
        changes.extend(self.changes_by_holder(statement, passed, DEPTH));
        changes.extend(self.changes_by_method(statement, passed));
        changes.extend(self.effects(passed));
        changes.extend(
            Some(statement).filter(|&statement| self.is_changed_by_lambda(statement, passed)),
        );
        changes
            .extend(Some(statement).filter(|&statement| self.is_called_alone(statement, passed)));
        changes.extend(Some(statement).filter(|&statement| self.is_set_up(statement, passed)));
        changes
    }

    /// Whether a statement sets an attribute of an object that the program never reads: whoever made
    /// the object does. What is set in a module concerns all that comes of it.
    fn is_set_up(&self, statement: usize, object: TextRange) -> bool {
        let node = self.tree.statements[statement].node;
        let assign = node.as_stmt_assign();
        let targets = assign.map_or(&[][..], |assign| &assign.targets);
        let attributes = targets.iter().flat_map(elements);
        let mut set = attributes.filter_map(Expr::as_attribute_expr);
        set.any(|attribute| {
            let is_module = self.imported.path(&attribute.value).is_some();
            attribute.value.range() == object
                && !is_module
                && !self.tree.attributes.contains_key(&attribute.attr.id)
        })
    }

    /// Whether a function without a name in a statement only calls a method of an object: whoever
    /// calls the function changes the object.
    fn is_changed_by_lambda(&self, statement: usize, object: TextRange) -> bool {
        let lambdas = self.nodes[statement].iter();
        let bodies = lambdas.filter_map(|node| Some(&*node.as_expr_lambda()?.body));
        let mut calls = bodies.filter_map(Expr::as_call_expr);
        calls.any(|call| receiver(call).is_some_and(|its| its.range() == object))
    }

    /// The attributes of others under which a statement keeps such a function for an object: whoever
    /// reads one of them may call it.
    pub(super) fn keeps_changing(&self, statement: usize, object: TextRange) -> Vec<String> {
        let assign = self.tree.statements[statement].node.as_stmt_assign();
        let assign = assign.filter(|_| self.is_changed_by_lambda(statement, object));
        let targets = assign.map_or(&[][..], |assign| &assign.targets);
        let attributes = targets.iter().flat_map(elements);
        let attributes = attributes.filter_map(Expr::as_attribute_expr);
        attributes
            .map(|attribute| format!(".{}=", attribute.attr))
            .collect()
    }

    /// Whether a statement only calls an object, or what a method of it gives back: that changes
    /// the object, or does nothing.
    fn is_called_alone(&self, statement: usize, object: TextRange) -> bool {
        let stmt = self.tree.statements[statement].node.as_stmt_expr();
        let call = stmt.and_then(|stmt| stmt.value.as_call_expr());
        call.is_some_and(|call| match &*call.func {
            Expr::Name(name) => name.range == object && is_object(self.tree, &name.id),
            Expr::Call(inner) => receiver(inner).is_some_and(|its| its.range() == object),
            callee => callee.range() == object,
        })
    }

    /// The statements by which a method of the program changes parts of its object, if a statement
    /// calls it for nothing else.
    fn changes_by_method(&self, statement: usize, object: TextRange) -> Vec<usize> {
        let stmt = self.tree.statements[statement].node.as_stmt_expr();
        let call = stmt.and_then(|stmt| stmt.value.as_call_expr());
        let method = call.and_then(|call| call.func.as_attribute_expr());
        let Some(method) = method.filter(|method| method.value.range() == object) else {
            return Vec::new();
        };
        let functions = self.tree.functions(&method.attr);
        let methods = functions.filter(|(function, _)| is_method(self.tree, Some(*function)));
        let receivers = methods.filter_map(|(_, def)| {
            let receiver = def.parameters.iter_non_variadic_params().next()?;
            self.graph.variable_at(receiver.name().start())
        });
        receivers
            .flat_map(|receiver| self.changes_of_parts(receiver))
            .collect()
    }

    /// The executed statements that change what calls of a function gave, if a decorator keeps that for
    /// the next call.
    pub(super) fn changes_of_kept(&self, function: usize) -> Vec<usize> {
        const KEEPING: [&str; 2] = ["cache", "memo"];
        let program = self.tree.program;
        let Some(def) = self.tree.statements[function].node.as_stmt_function_def() else {
            return Vec::new();
        };
        let mut decorators = def.decorator_list.iter();
        let is_kept = decorators.any(|decorator| {
            let text = program.slice(decorator.range).to_lowercase();
            KEEPING.iter().any(|word| text.contains(word))
        });
        let calls = self.nodes.calls_of(&def.name).filter(|_| is_kept);
        let given = calls.filter(|(at, call)| {
            let value = self.tree.statements[*at].value();
            value.is_some_and(|value| value.range() == call.range)
        });
        let variables =
            given.flat_map(|(at, _)| program.scopes().bound_by(self.tree.statements[at].range));
        variables
            .flat_map(|&variable| self.graph.changes_in_place(variable))
            .collect()
    }

    /// The executed statements that change what a loop takes out of a variable, or an element of what
    /// is computed from it: `for p in self.rows(): p.f()`, `rows = dict(self.rows()); rows[0].f()`.
    fn changes_of_parts(&self, variable: usize) -> Vec<usize> {
        let program = self.tree.program;
        let mut changes = Vec::new();
        let mut all = vec![(variable, false)];
        let mut at = 0;
        while let Some(&(variable, is_part)) = all.get(at) {
            for (statement, range) in self.graph.uses(variable) {
                let node = self.tree.statements[statement].node;
                let is_element = program.text()[range.end().to_usize()..].starts_with('[');
                let is_of_part = is_part || at > 0 && is_element;
                if is_of_part && Change::of(program, node, range).is_some() {
                    changes.push(statement);
                }
                let is_part = match node {
                    AnyNodeRef::StmtFor(each) if each.iter.range().contains_range(range) => true,
                    AnyNodeRef::StmtAssign(assign)
                        if assign.targets.iter().all(Expr::is_name_expr) =>
                    {
                        false
                    }
                    _ => continue,
                };
                let variables = program.scopes().bound_by(node.range()).iter().copied();
                let new = variables.filter(|new| all.iter().all(|(known, _)| known != new));
                all.extend(new.map(|new| (new, is_part)).collect::<Vec<_>>());
            }
            at += 1;
        }
        changes
    }

    /// The statements by which a function of the program changes what a statement passes to it, if
    /// one does, and the statement itself.
    fn changes_within(&self, statement: usize, passed: TextRange, depth: usize) -> Vec<usize> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let calls = self.nodes[statement].iter();
        let calls = calls.filter_map(|node| node.as_expr_call().copied());
        let parameters = calls.flat_map(|call| self.parameters_of(call, passed));
        let changes: Vec<usize> = parameters
            .flat_map(|parameter| {
                let mut changes: Vec<usize> = self.graph.changes_in_place(parameter).collect();
                for (statement, range) in self.graph.uses(parameter) {
                    changes.extend(self.changes_within(statement, range, depth));
                    changes.extend(self.changes_by_holder(statement, range, depth));
                }
                changes
            })
            .collect();
        let caller = Some(statement).filter(|_| !changes.is_empty());
        caller.into_iter().chain(changes).collect()
    }

    /// The statements that change a value through an object which a package made with it, if a
    /// statement keeps that object: `optimizer.step()` changes what `SGD` was given. So do those
    /// that change it through another object, made with that one.
    fn changes_by_holder(&self, statement: usize, given: TextRange, depth: usize) -> Vec<usize> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let Some(assign) = self.tree.statements[statement].node.as_stmt_assign() else {
            return Vec::new();
        };
        let (Some(call), [target]) = (assign.value.as_call_expr(), &*assign.targets) else {
            return Vec::new();
        };
        let maker = self.imported.path(&call.func).filter(|maker| {
            let is_given = call.arguments.range.contains_range(given);
            is_given && (is_class(maker) || self.is_object_of_package(given))
        });
        let Some(maker) = maker else {
            return Vec::new();
        };
        let (mut changes, uses): (Vec<usize>, Vec<(usize, TextRange)>) = match target {
            Expr::Name(name) => match self.graph.variable_at(name.range.start()) {
                Some(holder) => (
                    self.graph.changes_in_place(holder).collect(),
                    self.graph.uses(holder).collect(),
                ),
                None => return Vec::new(),
            },
            Expr::Attribute(attribute) => (
                self.graph
                    .attribute_changes_in_place(&attribute.attr)
                    .collect(),
                self.tree.reads_of(&attribute.attr).collect(),
            ),
            _ => return Vec::new(),
        };
        let of_others = uses
            .into_iter()
            .flat_map(|(statement, range)| self.changes_by_holder(statement, range, depth));
        changes.extend(of_others);
        if let Some(mover) = moved_by(&maker).filter(|_| !changes.is_empty()) {
            changes.extend(self.tree.executed_with(mover));
        }
        changes
    }

    /// Whether an expression names an object that a package made by its class, or an open file. A
    /// function that is given one keeps it, while it copies data.
    fn is_object_of_package(&self, named: TextRange) -> bool {
        let text = self.tree.program.slice(named);
        let attribute = text.rsplit_once('.').map(|(_, attribute)| attribute);
        let variable = self.tree.program.scopes().position_read(text, named);
        let made_at: Vec<usize> = match (attribute, variable) {
            (Some(attribute), _) => self.graph.stores(attribute).collect(),
            (None, Some(variable)) => {
                let definitions = self.graph.definitions(variable);
                definitions.map(|definition| definition.statement).collect()
            }
            (None, None) => return false,
        };
        made_at.into_iter().any(|statement| {
            let value = self.tree.statements[statement].value();
            let call = value.and_then(Expr::as_call_expr);
            call.is_some_and(|call| {
                let path = self.imported.path(&call.func);
                let is_open = call
                    .func
                    .as_name_expr()
                    .is_some_and(|name| name.id == "open");
                is_open || path.is_some_and(|path| is_class(&path))
            })
        })
    }

    /// The variables of the parameters for which a call passes the argument of a range to functions
    /// of the program.
    pub(super) fn parameters_of(&self, call: &ExprCall, passed: TextRange) -> Vec<usize> {
        let mut arguments = call.arguments.arguments_source_order();
        let is_passed = arguments.any(|argument| argument.value().range() == passed);
        let Some(name) = callee_name(&call.func).filter(|_| is_passed) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let is_of_class = |function: usize| {
            let class = self.tree.statements[function].parent;
            let class = class.map(|class| self.tree.statements[class].node);
            matches!(class, Some(AnyNodeRef::StmtClassDef(class)) if class.name.as_str() == name)
        };
        let constructors = self.tree.functions("__init__");
        let constructors = constructors.filter(|(function, _)| is_of_class(*function));
        for (function, def) in self.tree.functions(name).chain(constructors) {
            let own = usize::from(is_method(self.tree, Some(function)));
            let parameters = def.parameters.iter_non_variadic_params().skip(own);
            let of_argument = parameters.enumerate().find(|(position, parameter)| {
                let argument = given(call, parameter.name(), *position).argument();
                argument.is_some_and(|(_, value)| value.range() == passed)
            });
            let at = of_argument.map(|(_, parameter)| parameter.name().start());
            found.extend(at.and_then(|at| self.graph.variable_at(at)));
        }
        found
    }

    /// The arguments that calls of a function of the program give for a parameter, or that create
    /// objects of its class if it is a constructor.
    pub(super) fn arguments(&self, function: usize, parameter: &str) -> Vec<(usize, TextRange)> {
        let Some(def) = self.tree.statements[function].node.as_stmt_function_def() else {
            return Vec::new();
        };
        let class = self.tree.statements[function].parent;
        let class = class.and_then(|class| self.tree.statements[class].node.as_stmt_class_def());
        let name = match class {
            Some(class) if def.name.as_str() == "__init__" => &class.name,
            _ => &def.name,
        };
        let mut parameters = def.parameters.iter_non_variadic_params();
        let position = parameters.position(|its| its.name() == parameter);
        let position = position.map(|at| at.saturating_sub(usize::from(class.is_some())));
        position.map_or_else(Vec::new, |at| self.given_for(name, parameter, at))
    }

    /// The arguments that executed calls of a name give for a parameter.
    pub(super) fn given_for(
        &self,
        name: &str,
        parameter: &str,
        position: usize,
    ) -> Vec<(usize, TextRange)> {
        let calls = self.nodes.calls_of(name);
        let executed = calls.filter(|(at, _)| self.tree.statements[*at].is_executed);
        let values = executed.filter_map(|(at, call)| {
            let (_, value) = given(call, parameter, position).argument()?;
            Some((at, value.range()))
        });
        values.collect()
    }

    /// What the call in a statement works on that gets a function without a name, given where its
    /// parameters stand: its other arguments, and the object of a method.
    pub(super) fn beside_lambda(&self, statement: usize, parameter: TextRange) -> Vec<TextRange> {
        let nodes = self.nodes[statement].iter();
        let lambda = nodes
            .filter_map(|node| node.as_expr_lambda())
            .find(|lambda| {
                let parameters = lambda.parameters.as_deref();
                parameters.is_some_and(|its| its.range().contains_range(parameter))
            });
        let Some(lambda) = lambda else {
            return Vec::new();
        };
        let calls = self.nodes[statement].iter();
        let getting = calls.filter_map(AnyNodeRef::as_expr_call).find(|call| {
            let mut given = call.arguments.arguments_source_order();
            given.any(|argument| argument.value().range() == lambda.range)
        });
        getting.map_or_else(Vec::new, |call| {
            let given = call.arguments.arguments_source_order();
            let given = given.map(|argument| argument.value().range());
            let others = given.filter(|range| *range != lambda.range);
            others.chain(receiver(call).map(Ranged::range)).collect()
        })
    }

    /// The argument that a statement which calls a function gives for a parameter, if that is
    /// known.
    pub(super) fn argument(
        &self,
        statement: usize,
        function: Option<usize>,
        name: &str,
    ) -> Option<TextRange> {
        let tree = self.tree;
        let def = tree.statements[function?].node.as_stmt_function_def()?;
        let mut parameters = def.parameters.iter_non_variadic_params();
        let position = parameters.position(|parameter| parameter.name() == name)?;
        let position = position.checked_sub(usize::from(is_method(self.tree, function)))?;
        let (call, _) = call_in(tree.program, &def.name, tree.own_range(statement))?;
        Some(given(call, name, position).argument()?.1.range())
    }
}

/// Whether a name is that of a class, by how it is written.
fn is_class(path: &str) -> bool {
    let name = path.rsplit('.').next();
    name.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// Whether a function is a method.
pub(super) fn is_method(tree: &StatementTree<'_>, function: Option<usize>) -> bool {
    let class = function.and_then(|function| tree.statements[function].parent);
    class.is_some_and(|class| tree.statements[class].node.is_stmt_class_def())
}

/// Whether a name is that of a variable that is assigned, not of a function, a class or an import.
pub(super) fn is_object(tree: &StatementTree<'_>, name: &str) -> bool {
    let variables = tree.program.scopes().named(name);
    let mut bindings = variables.flat_map(|variable| &variable.bindings).peekable();
    bindings.peek().is_some()
        && bindings.all(|binding| {
            !matches!(
                binding.kind,
                BindingKind::Import | BindingKind::Function | BindingKind::Class
            )
        })
}

/// What a target assigns, one by one.
pub(super) fn elements(target: &Expr) -> Vec<&Expr> {
    match target {
        Expr::Tuple(it) => it.elts.iter().flat_map(elements).collect(),
        Expr::List(it) => it.elts.iter().flat_map(elements).collect(),
        Expr::Starred(it) => elements(&it.value),
        target => vec![target],
    }
}

/// The object on which the first of a chain of calls is made: `x` of `x.f()()`.
fn receiver(call: &ExprCall) -> Option<&Expr> {
    match &*call.func {
        Expr::Call(inner) => receiver(inner),
        Expr::Attribute(method) => Some(&method.value),
        _ => None,
    }
}
