//! Calls and what they call: which arguments belong to which parameter, and which expressions mean
//! the same wherever they stand. Goes only by names; a candidate run shows whether the answer was
//! right. Called by passes.

use std::collections::BTreeSet;

use crate::{
    analysis::{names::ImportedNames, statement_tree::StatementTree},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{self, Expr, Stmt},
        scope::ScopeKind,
    },
    trace::evidence::SourceLine,
};

/// All calls of a program.
pub(crate) struct Calls<'a>(Vec<&'a ast::ExprCall>);

impl<'a> Calls<'a> {
    pub(crate) fn of(tree: &Tree<'a>) -> Self {
        let calls = tree.nodes.iter().filter_map(|node| match node.node {
            AnyNodeRef::ExprCall(call) => Some(call),
            _ => None,
        });
        Self(calls.collect())
    }

    /// The calls of a function by its name, of a method by its attribute, of constructors by their
    /// class.
    pub(crate) fn of_function(
        &self,
        def: &ast::StmtFunctionDef,
        class: Option<&ast::StmtClassDef>,
    ) -> Vec<&'a ast::ExprCall> {
        let name = def.name.as_str();
        let is_constructor = matches!(name, "__init__" | "__new__");
        let is_ours = |call: &&&ast::ExprCall| match (&*call.func, class) {
            (Expr::Name(called), None) => called.id == name,
            (Expr::Name(called), Some(class)) => {
                let is_own = called.id == "cls" && class.range.contains_range(called.range);
                is_constructor && (is_own || called.id == class.name.id)
            }
            (Expr::Attribute(called), Some(class)) => {
                // Methods that a class calls on `super()` are not its own.
                let of_super = matches!(&*called.value, Expr::Call(it) if matches!(&*it.func, Expr::Name(it) if it.id == "super"));
                called.attr.as_str() == name
                    && !(of_super && class.range.contains_range(called.range))
            }
            _ => false,
        };
        self.0.iter().filter(is_ours).copied().collect()
    }

    /// The calls that may pass a function on, each with the number of its arguments that come
    /// before those of the function: calls that get the function, and calls of what such a call
    /// makes.
    pub(crate) fn handing_on(&self, def: &ast::StmtFunctionDef) -> Vec<(&'a ast::ExprCall, usize)> {
        let is_it = |expr: &Expr| matches!(expr, Expr::Name(it) if it.id == def.name.id);
        let position = |call: &ast::ExprCall| call.arguments.args.iter().position(is_it);
        let found = self
            .0
            .iter()
            .filter_map(|call| match (position(call), &*call.func) {
                (Some(position), _) => Some((*call, position + 1)),
                (None, Expr::Call(maker)) => position(maker).map(|_| (*call, 0)),
                _ => None,
            });
        found.collect()
    }

    /// The calls of a class by its name.
    pub(crate) fn of_class(&self, class: &str) -> Vec<&'a ast::ExprCall> {
        let is_ours = |call: &&&ast::ExprCall| {
            call.func
                .as_name_expr()
                .is_some_and(|name| name.id == class)
        };
        self.0.iter().filter(is_ours).copied().collect()
    }
}

/// The things that a program calls and that are not its own.
pub(crate) struct Others<'a> {
    imported: ImportedNames<'a>,
    own: BTreeSet<&'a str>,
}

impl<'a> Others<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        let variables = program.scopes().variables.iter();
        Self {
            imported: ImportedNames::of(program.tree()),
            own: variables.map(|variable| &*variable.name).collect(),
        }
    }

    /// The path of an imported name.
    pub(crate) fn path(&self, name: &Expr) -> Option<String> {
        self.imported.path(name)
    }

    /// The last part of an imported name.
    pub(crate) fn imported<'c>(&self, name: &'c Expr) -> Option<&'c str> {
        self.imported.path(name)?;
        match name {
            Expr::Name(name) => Some(&*name.id),
            Expr::Attribute(attribute) => Some(&*attribute.attr),
            _ => None,
        }
    }

    /// The last part of the name of the callee, unless it is the program's own.
    pub(crate) fn called<'c>(&self, call: &'c ast::ExprCall) -> Option<&'c str> {
        match &*call.func {
            Expr::Name(name) => {
                let is_own = self.own.contains(&*name.id) && self.imported.name(&name.id).is_none();
                (!is_own).then_some(&*name.id)
            }
            Expr::Attribute(attribute) => {
                (!self.own.contains(&*attribute.attr)).then_some(&*attribute.attr)
            }
            _ => None,
        }
    }
}

/// The calls by which a program reads its command line: what it reads is as good as a constant.
const OF_COMMAND_LINES: [&str; 9] = [
    "ArgumentParser",
    "add_argument",
    "add_argument_group",
    "add_parser",
    "add_subparsers",
    "getenv",
    "parse_args",
    "parse_known_args",
    "set_defaults",
];

/// The last part of the name of a callee.
pub(super) fn callee_name(callee: &Expr) -> Option<&str> {
    match callee {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Functions that only make texts for people or count, and those that look at who calls them.
pub(crate) const OF_NO_MATTER: [&str; 12] = [
    "dir", "eval", "exec", "format", "globals", "locals", "print", "range", "repr", "str", "super",
    "vars",
];

/// Whether a call, by the last part of its name, reads the command line.
pub(crate) fn reads_command_line(name: &str) -> bool {
    OF_COMMAND_LINES.contains(&name)
}

/// Whether a program itself writes the command line that it parses.
pub(crate) fn gives_command_line(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut calls = nodes.filter_map(|node| node.node.as_expr_call());
    calls.any(|call| {
        let is_parsing = matches!(
            callee_name(&call.func),
            Some("parse_args" | "parse_known_args")
        );
        let line = call.arguments.find_argument_value("args", 0);
        is_parsing
            && line
                .and_then(Expr::as_list_expr)
                .is_some_and(|line| !line.is_empty())
    })
}

/// Methods of data that no package makes: texts, collections, files.
const METHODS_OF_DATA: [&str; 37] = [
    "add",
    "append",
    "capitalize",
    "clear",
    "close",
    "copy",
    "count",
    "decode",
    "encode",
    "endswith",
    "extend",
    "find",
    "flush",
    "format",
    "get",
    "index",
    "insert",
    "items",
    "join",
    "keys",
    "lower",
    "lstrip",
    "pop",
    "read",
    "remove",
    "replace",
    "rstrip",
    "setdefault",
    "sort",
    "split",
    "startswith",
    "strip",
    "title",
    "update",
    "upper",
    "values",
    "write",
];

/// Whether a method is one of data that no package makes, to go by its name.
pub(crate) fn is_of_data(method: &str) -> bool {
    METHODS_OF_DATA.contains(&method)
}

/// The last parts of the names of the foreign functions that the statement on a line calls. Empty
/// if the statement does anything else that may fail there: what fails in a function of the program
/// does so on a line of its own.
pub fn called_on(program: &Program, line: u32) -> BTreeSet<String> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return BTreeSet::new();
    };
    let others = Others::of(program);
    let entered = with_own_lines(program);
    let nodes = program.tree().within(tree.own_range(at));
    let mut found = BTreeSet::new();
    for node in nodes {
        match node {
            AnyNodeRef::ExprCall(call) => match others.called(call) {
                Some(name) => {
                    found.insert(name.to_owned());
                }
                None if entered.contains(&callee_name(&call.func)) => {}
                None => return BTreeSet::new(),
            },
            AnyNodeRef::ExprBinOp(_)
            | AnyNodeRef::ExprUnaryOp(_)
            | AnyNodeRef::ExprCompare(_)
            | AnyNodeRef::ExprSubscript(_) => return BTreeSet::new(),
            _ => {}
        }
    }
    found
}

/// The functions of a program, and those of its classes that no other class constructs.
fn with_own_lines(program: &Program) -> BTreeSet<Option<&str>> {
    let nodes = program.tree().nodes.iter();
    let names = nodes.filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(def) if def.decorator_list.is_empty() => Some(&*def.name.id),
        AnyNodeRef::StmtClassDef(def)
            if def.arguments.is_none() && def.decorator_list.is_empty() =>
        {
            Some(&*def.name.id)
        }
        _ => None,
    });
    names.map(Some).collect()
}

/// The class that a node is a direct part of.
pub(crate) fn class_around<'a>(
    tree: &Tree<'a>,
    parent: Option<u32>,
) -> Option<&'a ast::StmtClassDef> {
    match tree.nodes[parent? as usize].node {
        AnyNodeRef::StmtClassDef(class) => Some(class),
        _ => None,
    }
}

/// The fields of a class whose constructor is made of them: a dataclass or a named tuple.
pub(crate) fn fields(class: &ast::StmtClassDef) -> Vec<(&str, &ast::StmtAnnAssign)> {
    let names = |expr: &Expr, wanted: &str| match expr {
        Expr::Name(it) => it.id == wanted,
        Expr::Attribute(it) => it.attr.as_str() == wanted,
        _ => false,
    };
    let is_dataclass = class
        .decorator_list
        .iter()
        .any(|decorator| match &decorator.expression {
            Expr::Call(call) => names(&call.func, "dataclass"),
            plain => names(plain, "dataclass"),
        });
    if !is_dataclass && !class.bases().iter().any(|base| names(base, "NamedTuple")) {
        return Vec::new();
    }
    annotated(class).collect()
}

/// The fields of a class that have a type.
pub(crate) fn annotated(
    class: &ast::StmtClassDef,
) -> impl Iterator<Item = (&str, &ast::StmtAnnAssign)> {
    class.body.iter().filter_map(|stmt| match stmt {
        Stmt::AnnAssign(field) => Some((field.target.as_name_expr()?.id.as_str(), field)),
        _ => None,
    })
}

/// Which values mean the same in every place of a program.
pub(crate) struct Movable<'t> {
    tree: &'t Tree<'t>,
    /// Uses of names that belong to a function, a class, or are bound more than once.
    local: BTreeSet<TextSize>,
    /// Names that some function or class binds for itself.
    shadowed: BTreeSet<&'t str>,
}

impl<'t> Movable<'t> {
    pub(crate) fn of(program: &'t Program, tree: &'t Tree<'t>) -> Self {
        let (mut local, mut shadowed) = (BTreeSet::new(), BTreeSet::new());
        for variable in &program.scopes().variables {
            if variable.scope != ScopeKind::Module {
                shadowed.insert(variable.name.as_str());
            }
            if variable.scope != ScopeKind::Module || variable.bindings.len() > 1 {
                local.extend(variable.uses.iter().map(|used| used.range.start()));
            }
        }
        Self {
            tree,
            local,
            shadowed,
        }
    }

    /// Whether a value could stand in so many places, wherever they are. What makes something new
    /// each time can stand only once.
    pub(crate) fn allows(&self, value: &Expr, times: usize) -> bool {
        if value.is_literal_expr() {
            return true;
        }
        let is_shared = matches!(value, Expr::Name(_) | Expr::Attribute(_) | Expr::UnaryOp(_));
        let nodes = &self.tree.nodes;
        let first = nodes.partition_point(|node| node.node.start() < value.start());
        let mut inside = nodes[first..]
            .iter()
            .take_while(|node| node.node.start() < value.end());
        (is_shared || times <= 1)
            && inside.all(|node| match node.node {
                AnyNodeRef::ExprName(name) => {
                    !self.local.contains(&name.start()) && !self.shadowed.contains(name.id.as_str())
                }
                AnyNodeRef::ExprLambda(_)
                | AnyNodeRef::Comprehension(_)
                | AnyNodeRef::ExprNamed(_)
                | AnyNodeRef::ExprAwait(_)
                | AnyNodeRef::ExprYield(_)
                | AnyNodeRef::ExprYieldFrom(_)
                | AnyNodeRef::ExprStarred(_) => false,
                _ => true,
            })
    }
}

/// The first call of a function by its name in a part of the program, and the receiver of the call.
pub(crate) fn call_in<'a>(
    program: &'a Program,
    name: &str,
    part: TextRange,
) -> Option<(&'a ast::ExprCall, Option<&'a Expr>)> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call().copied());
    let mut inside = calls.filter(|call| part.contains_range(call.range));
    inside.find_map(|call| match &*call.func {
        Expr::Name(called) => (called.id == *name).then_some((call, None)),
        Expr::Attribute(called) => {
            (called.attr.as_str() == name).then_some((call, Some(&*called.value)))
        }
        _ => None,
    })
}

/// The value that a call passes for a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    /// An argument: where it starts, with its keyword, and its value.
    Argument(TextSize, &'a Expr),
    /// Nothing.
    Nothing,
    /// Unknown: it depends on the values of `*` and `**`.
    Unknown,
}

impl<'a> Given<'a> {
    /// The argument, if it is known.
    pub(crate) fn argument(self) -> Option<(TextSize, &'a Expr)> {
        match self {
            Self::Argument(start, value) => Some((start, value)),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

/// Maps a parameter to the argument that a call gives for it, by name or by position.
pub(crate) fn given<'a>(call: &'a ast::ExprCall, name: &str, position: usize) -> Given<'a> {
    let ast::Arguments { args, keywords, .. } = &call.arguments;
    let named = keywords
        .iter()
        .find(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.id == name));
    if let Some(keyword) = named {
        return Given::Argument(keyword.start(), &keyword.value);
    }
    if args.iter().take(position + 1).any(Expr::is_starred_expr) {
        return Given::Unknown;
    }
    match args.get(position) {
        Some(value) => Given::Argument(value.start(), value),
        None if spreads(call) => Given::Unknown,
        None => Given::Nothing,
    }
}

/// The argument at a position, or else by one of some keywords, for callers that must not miss it.
/// An unpacked argument counts, too.
pub fn any_argument<'a>(
    call: &'a ast::ExprCall,
    position: usize,
    keywords: &[&str],
) -> Option<&'a Expr> {
    let arguments = &call.arguments;
    arguments.args.get(position).or_else(|| {
        let mut names = keywords.iter();
        names.find_map(|name| Some(&arguments.find_keyword(name)?.value))
    })
}

/// Whether a call has arguments of which only a run can tell how many they are.
pub(crate) fn spreads(call: &ast::ExprCall) -> bool {
    let ast::Arguments { args, keywords, .. } = &call.arguments;
    args.iter().any(Expr::is_starred_expr) || keywords.iter().any(|keyword| keyword.arg.is_none())
}

/// The one use of a function.
pub(crate) struct Site<'a> {
    /// The expression that the function's value replaces: the call, awaited if it is, or the
    /// attribute if it is a property.
    pub(crate) whole: TextRange,
    /// The call; none for a property.
    pub(crate) call: Option<&'a ast::ExprCall>,
    /// The value of the first parameter, for a method.
    pub(crate) receiver: Option<&'a Expr>,
}

/// The call whose callee stands at a range.
pub(crate) fn call_of<'a>(tree: &Tree<'a>, callee: TextRange) -> Option<&'a ast::ExprCall> {
    tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::ExprCall(call) if call.func.range() == callee => Some(call),
        _ => None,
    })
}

/// The one use of a function, whatever its decorators make of it.
pub(crate) fn only_call<'a>(
    program: &Program,
    tree: &Tree<'a>,
    def: &ast::StmtFunctionDef,
) -> Option<Site<'a>> {
    let variable = program.scopes().bound_at(def.name.range.start())?;
    let ([_], [only]) = (variable.bindings.as_slice(), variable.uses.as_slice()) else {
        return None;
    };
    let index = tree.nodes.iter().position(|node| match node.node {
        AnyNodeRef::ExprCall(call) => call.func.range() == only.range,
        _ => false,
    })?;
    site(tree, index, def, None)
}

/// The use of a function by a call, which is awaited if the function is asynchronous.
pub(crate) fn site<'a>(
    tree: &Tree<'a>,
    call: usize,
    def: &ast::StmtFunctionDef,
    receiver: Option<&'a Expr>,
) -> Option<Site<'a>> {
    let AnyNodeRef::ExprCall(it) = tree.nodes[call].node else {
        return None;
    };
    let around = tree.nodes[call]
        .parent
        .map(|parent| tree.nodes[parent as usize].node);
    let whole = match around {
        Some(AnyNodeRef::ExprAwait(it)) if def.is_async => it.range,
        _ if def.is_async => return None,
        _ => it.range,
    };
    Some(Site {
        whole,
        call: Some(it),
        receiver,
    })
}

/// The ranges of all formatted strings: quotes and braces of a value may not fit into them.
pub(crate) fn formatted_strings(tree: &Tree<'_>) -> Vec<TextRange> {
    let strings = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprFString(_) | AnyNodeRef::ExprTString(_) => Some(node.node.range()),
        _ => None,
    });
    strings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_on_a_line_is_not_in_own_functions() {
        let own = "import lib\nclass A: pass\nclass B(lib.C): pass\ndef f(): pass\n";
        let check = |line: &str, expected: &[&str]| {
            let program = Program::parse(format!("{own}{line}\n")).unwrap();
            let called = called_on(&program, 5);
            assert_eq!(called.iter().collect::<Vec<_>>(), expected, "{line}");
        };
        check("lib.run(A(), f())", &["run"]);
        check("lib.run(B())", &[]);
        check("lib.run(1 + f())", &[]);
        check("A()", &[]);
        check("lib.run(lib.name())", &["name", "run"]);
    }
}
