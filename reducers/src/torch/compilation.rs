//! Compilations: the places where a program asks PyTorch to compile something, and the edits that
//! leave the compiler out or name another backend. Goes only by names; a candidate run shows
//! whether the answer was right. Called by the environment's rank, the ablation and the passes that
//! lower backends.

use crate::{
    analysis::statements::Statements,
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TokenKind, Tree,
        ast::{Expr, ExprCall},
        rows::RowKind,
    },
    torch::names::{Torch, keyword, removed_argument},
};

/// How a compiler is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `torch.compile`.
    Compile,
    /// `torch._dynamo.optimize`, whose first argument is the backend.
    Optimize,
    /// The method `compile` of a module.
    Method,
}

/// A place where a compiler is asked for: the mention of it, and the call that gives it its
/// settings.
pub(crate) struct Compilation<'a> {
    /// How it is asked for.
    pub(crate) form: Form,
    /// `torch.compile`, without arguments.
    pub(crate) mention: TextRange,
    /// The call of the mention.
    pub(crate) call: Option<&'a ExprCall>,
    /// The call around the mention that gives the settings, as that of `partial` does.
    pub(crate) around: Option<&'a ExprCall>,
    /// The mention's place in the tree.
    pub(crate) node: u32,
}

/// Whether a node defines a method of that name: then the method is not the module's, wherever it is
/// called.
pub(crate) fn hides_compile(node: AnyNodeRef<'_>) -> bool {
    matches!(node, AnyNodeRef::StmtFunctionDef(def) if def.name.as_str() == "compile")
}

/// Every place where a compiler is asked for.
pub(crate) fn compilations<'a>(torch: &Torch<'_>, tree: &Tree<'a>) -> Vec<Compilation<'a>> {
    let call_at = |node: u32| match tree.nodes[node as usize].node {
        AnyNodeRef::ExprCall(call) => Some(call),
        _ => None,
    };
    let hides_method = tree.nodes.iter().any(|node| hides_compile(node.node));
    let mut found = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let path = match node.node {
            AnyNodeRef::ExprName(name) => torch.name(name.id.as_str()).map(str::to_owned),
            AnyNodeRef::ExprAttribute(attribute) => torch.attribute(attribute),
            _ => continue,
        };
        let mention = node.node.range();
        let call = node
            .parent
            .and_then(call_at)
            .filter(|call| call.func.range() == mention);
        let form = match (node.node, path.as_deref()) {
            (_, Some("torch.compile")) => Form::Compile,
            (_, Some("torch._dynamo.optimize")) => Form::Optimize,
            (AnyNodeRef::ExprAttribute(attribute), None)
                if !hides_method
                    && attribute.attr.as_str() == "compile"
                    && call.is_some_and(|call| call.arguments.args.is_empty()) =>
            {
                Form::Method
            }
            _ => continue,
        };
        let outer = node
            .parent
            .and_then(|parent| tree.nodes[parent as usize].parent)
            .and_then(call_at);
        let around =
            outer.filter(|outer| call.is_none() && outer.arguments.range.contains_range(mention));
        found.push(Compilation {
            form,
            mention,
            call,
            around,
            node: index as u32,
        });
    }
    found
}

impl<'a> Compilation<'a> {
    /// The value given as the backend, and the argument that it stands in.
    pub(crate) fn backend(&self) -> Option<(&'a Expr, TextRange)> {
        let call = self.call.or(self.around)?;
        if let Some(keyword) = keyword(call, "backend") {
            return Some((&keyword.value, keyword.range));
        }
        let first = call
            .arguments
            .args
            .first()
            .filter(|_| self.form == Form::Optimize && self.call.is_some());
        first.map(|value| (value, value.range()))
    }

    /// The edits that leave the compiled thing as it is.
    fn without(&self, program: &Program, tree: &Tree<'_>) -> Option<EditSet> {
        let parent = |node: u32| tree.nodes[node as usize].parent;
        let Some(call) = self.call else {
            return decorator(program, tree, self.node);
        };
        let at = parent(self.node)?;
        if self.form == Form::Method {
            let statement = tree.nodes[parent(at)? as usize].node;
            return Statements::of(program)
                .place(statement.range())
                .filter(|_| matches!(statement, AnyNodeRef::StmtExpr(_)))
                .map(EditSet::removal);
        }
        let model = || keyword(call, "model").map(|keyword| &keyword.value);
        if self.form == Form::Compile
            && let Some(model) = call.arguments.args.first().or_else(model)
        {
            return keep_part(program, call.range, model);
        }
        // `torch.compile(backend=b)(f)`, or a decorator with settings.
        match tree.nodes[parent(at)? as usize].node {
            AnyNodeRef::ExprCall(outer) if outer.func.range() == call.range => {
                keep_part(program, outer.range, outer.arguments.args.first()?)
            }
            _ => decorator(program, tree, at),
        }
    }

    /// The edits that give a setting a value.
    fn with_setting(&self, program: &Program, tree: &Tree<'_>, setting: &str) -> Option<EditSet> {
        let Some(call) = self.call.or(self.around) else {
            decorator(program, tree, self.node)?;
            let end = TextRange::empty(self.mention.end());
            return Some(EditSet::one(Edit::replace(end, format!("({setting})"))));
        };
        with_argument(program, call, setting)
    }

    /// The edits that name a backend. Settings that only Inductor knows are removed with it.
    fn with_backend(&self, program: &Program, tree: &Tree<'_>, backend: &str) -> Option<EditSet> {
        let argument = format!("backend=\"{backend}\"");
        let Some(call) = self.call.or(self.around) else {
            decorator(program, tree, self.node)?;
            let end = TextRange::empty(self.mention.end());
            return Some(EditSet::one(Edit::replace(end, format!("({argument})"))));
        };
        let mut edits = EditSet::default();
        let mut place = self.backend().map(|(value, _)| value.range());
        let is_named = place.is_some();
        for name in ["mode", "options"] {
            let Some(setting) = keyword(call, name) else {
                continue;
            };
            if place.is_none() {
                place = Some(setting.range);
            } else {
                edits.extend(&removed_argument(program, setting.range)?);
            }
        }
        match place {
            Some(place) if is_named => edits.edit(Edit::replace(place, format!("\"{backend}\""))),
            Some(place) => edits.edit(Edit::replace(place, argument)),
            None => edits.extend(&appended(program, call, &argument)?),
        }
        Some(edits)
    }
}

/// The edits that leave nothing to be compiled.
pub(crate) fn without_compiler(program: &Program) -> Option<EditSet> {
    let tree = program.tree();
    let torch = Torch::of(program, tree)?;
    compilations(&torch, tree)
        .iter()
        .try_fold(EditSet::default(), |mut edits, compilation| {
            edits.extend(&compilation.without(program, tree)?);
            Some(edits)
        })
}

/// The edits that name a backend for each of some compilations. One whose form is not known stays.
pub(crate) fn with_backend<'a>(
    program: &Program,
    tree: &Tree<'_>,
    compilations: impl Iterator<Item = &'a Compilation<'a>>,
    backend: &str,
) -> EditSet {
    let mut edits = EditSet::default();
    for compilation in compilations {
        let lowered = compilation.with_backend(program, tree, backend);
        edits.extend(&lowered.unwrap_or_default());
    }
    edits
}

/// The edits that give a setting, `NAME=VALUE`, to each compilation. One whose form is not known
/// stays.
pub(crate) fn with_setting(program: &Program, setting: &str) -> Option<EditSet> {
    let tree = program.tree();
    let torch = Torch::of(program, tree)?;
    let mut edits = EditSet::default();
    for compilation in compilations(&torch, tree) {
        edits.extend(
            &compilation
                .with_setting(program, tree, setting)
                .unwrap_or_default(),
        );
    }
    Some(edits)
}

/// The edits that give an argument, `NAME=VALUE`, to each call of one of some functions.
pub(crate) fn with_argument_of(
    program: &Program,
    functions: &[&str],
    argument: &str,
) -> Option<EditSet> {
    let tree = program.tree();
    let torch = Torch::of(program, tree)?;
    let mut edits = EditSet::default();
    for node in &tree.nodes {
        if let AnyNodeRef::ExprCall(call) = node.node
            && torch
                .path(&call.func)
                .is_some_and(|path| functions.contains(&path.as_str()))
        {
            edits.extend(&with_argument(program, call, argument)?);
        }
    }
    Some(edits)
}

/// A call with an argument, `NAME=VALUE`, in place of that of the same name if there is one.
fn with_argument(program: &Program, call: &ExprCall, argument: &str) -> Option<EditSet> {
    let (name, _) = argument.split_once('=')?;
    match keyword(call, name) {
        Some(given) => Some(EditSet::one(Edit::replace(
            given.range,
            argument.to_owned(),
        ))),
        None => appended(program, call, argument),
    }
}

/// The removal of the decorator that an expression is.
fn decorator(program: &Program, tree: &Tree<'_>, node: u32) -> Option<EditSet> {
    let AnyNodeRef::Decorator(decorator) =
        tree.nodes[tree.nodes[node as usize].parent? as usize].node
    else {
        return None;
    };
    let mut items = program.items();
    items
        .find(|(_, row, range)| {
            row.kind == RowKind::Decorators && range.contains_range(decorator.range)
        })
        .map(|(id, ..)| EditSet::removal(id))
}

/// A call with one more argument.
fn appended(program: &Program, call: &ExprCall, argument: &str) -> Option<EditSet> {
    let is_bare_generator = |argument: &Expr| matches!(argument, Expr::Generator(generator) if !generator.parenthesized);
    if call.arguments.args.iter().any(is_bare_generator) {
        return None;
    }
    let close = program
        .previous_token(call.range.end())
        .filter(|token| token.kind() == TokenKind::Rpar)?;
    let last = program.previous_token(close.start())?;
    let lead = match last.kind() {
        TokenKind::Lpar if call.arguments.is_empty() => "",
        TokenKind::Comma => " ",
        _ => ", ",
    };
    Some(EditSet::one(Edit::replace(
        TextRange::empty(last.end()),
        format!("{lead}{argument}"),
    )))
}
