//! PyTorch as a program names it: dotted names behind imports and their aliases, and the calls that
//! passes look for. Goes by names alone; a candidate run tells whether that was right. Called by
//! the cost and by the passes for PyTorch.

use std::collections::BTreeSet;

use crate::{
    analysis::names::ImportedNames,
    rewrite::{arguments::argument_item, edit::EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprAttribute, ExprCall, Keyword},
    },
};

/// What the names of a program that imports PyTorch stand for.
pub(crate) struct Torch<'a>(ImportedNames<'a>);

impl<'a> Torch<'a> {
    /// `None` if the program does not import PyTorch.
    pub(crate) fn of(program: &Program, tree: &Tree<'a>) -> Option<Self> {
        if !program.text().contains("torch") {
            return None;
        }
        let imported = ImportedNames::of(tree);
        let is_torch = |path: &str| path == "torch" || path.starts_with("torch.");
        let imports_torch = imported.paths().any(is_torch);
        imports_torch.then_some(Self(imported))
    }

    /// The full name of what an expression names, if that is imported.
    pub(crate) fn path(&self, expr: &Expr) -> Option<String> {
        self.0.path(expr)
    }

    /// The same of an attribute.
    pub(crate) fn attribute(&self, attribute: &ExprAttribute) -> Option<String> {
        self.0.attribute(attribute)
    }

    /// The full names of all imports.
    pub(crate) fn imports(&self) -> impl Iterator<Item = &str> {
        self.0.paths()
    }

    /// Whether an expression is `os.environ`.
    pub(crate) fn is_environ(&self, expr: &Expr) -> bool {
        self.0.is_environ(expr)
    }
}

/// Where expressions start that give the sizes of tensors and layers. None is made 0: a tensor
/// without elements is a case of its own for most of PyTorch, and who reads the result would wonder
/// about it.
pub(crate) fn sizes(program: &Program) -> BTreeSet<TextSize> {
    const MAKERS: &[&str] = &["randn", "rand", "zeros", "ones", "empty"];
    const METHODS: &[&str] = &[
        "view",
        "reshape",
        "expand",
        "new_zeros",
        "new_ones",
        "new_empty",
    ];
    let tree = program.tree();
    let mut found = BTreeSet::new();
    let Some(torch) = Torch::of(program, &tree) else {
        return found;
    };
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let path = torch.path(&call.func);
        let name = path.as_deref().and_then(|path| path.strip_prefix("torch."));
        let is_layer = name
            .and_then(|name| name.strip_prefix("nn."))
            .is_some_and(|it| it.starts_with(char::is_uppercase));
        let is_method =
            matches!(&*call.func, Expr::Attribute(it) if METHODS.contains(&it.attr.as_str()));
        let is_maker = name.is_some_and(|name| MAKERS.contains(&name));
        if !(is_layer || is_maker || path.is_none() && is_method) {
            continue;
        }
        for argument in &call.arguments.args {
            match argument {
                Expr::Tuple(it) => found.extend(it.elts.iter().map(Ranged::start)),
                Expr::List(it) => found.extend(it.elts.iter().map(Ranged::start)),
                _ => {}
            }
            found.insert(argument.start());
        }
    }
    found
}

/// What a call gives by a keyword.
pub(crate) fn keyword<'a>(call: &'a ExprCall, name: &str) -> Option<&'a Keyword> {
    call.arguments
        .keywords
        .iter()
        .find(|it| it.arg.as_ref().is_some_and(|arg| arg.id == name))
}

/// The removal of an argument.
pub(crate) fn removed_argument(program: &Program, argument: TextRange) -> Option<EditSet> {
    argument_item(program, argument).map(EditSet::removal)
}

/// The text of a string literal.
pub(crate) fn string(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(it) => Some(it.value.to_str()),
        _ => None,
    }
}

/// How a compiler is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `torch.compile`.
    Compile,
    /// `torch._dynamo.optimize`, whose backend comes first.
    Optimize,
    /// The method `compile` of a module.
    Method,
}

/// Where a compiler is asked for: the mention of it, and the call that gives it its settings.
pub(crate) struct Compilation<'a> {
    /// How.
    pub(crate) form: Form,
    /// `torch.compile`, without arguments.
    pub(crate) mention: TextRange,
    /// Its call.
    pub(crate) call: Option<&'a ExprCall>,
    /// The call around it that gives the settings, as that of `partial` does.
    pub(crate) around: Option<&'a ExprCall>,
    /// The mention's place in the tree.
    pub(crate) node: u32,
}

/// Every place where a compiler is asked for.
pub(crate) fn compilations<'a>(torch: &Torch<'_>, tree: &Tree<'a>) -> Vec<Compilation<'a>> {
    let call_at = |node: u32| match tree.nodes[node as usize].node {
        AnyNodeRef::ExprCall(call) => Some(call),
        _ => None,
    };
    // A method of that name that the script defines is none of a module.
    let defines = |node: &AnyNodeRef<'_>| matches!(node, AnyNodeRef::StmtFunctionDef(def) if def.name.as_str() == "compile");
    let is_own = tree.nodes.iter().any(|it| defines(&it.node));
    let mut found = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let path = match node.node {
            AnyNodeRef::ExprName(name) => torch.0.name(name.id.as_str()).map(str::to_owned),
            AnyNodeRef::ExprAttribute(it) => torch.attribute(it),
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
            (AnyNodeRef::ExprAttribute(it), None)
                if !is_own
                    && it.attr.as_str() == "compile"
                    && call.is_some_and(|call| call.arguments.args.is_empty()) =>
            {
                Form::Method
            }
            _ => continue,
        };
        let outer = node
            .parent
            .and_then(|it| tree.nodes[it as usize].parent)
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
    /// What is said of the backend: its value, and the argument that it stands in.
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
        first.map(|it| (it, it.range()))
    }
}

/// A data type other than PyTorch's default ones, as it is named: by `torch.float16`, or by a
/// method such as `half`.
pub(crate) struct RareType {
    /// Its name.
    pub(crate) name: TextRange,
    /// What stands for 32-bit floats in its place.
    pub(crate) plain: &'static str,
}

/// Every mention of such a type.
pub(crate) fn rare_types(program: &Program, tree: &Tree<'_>) -> Vec<RareType> {
    const TYPES: &[&str] = &[
        "half",
        "float16",
        "bfloat16",
        "double",
        "float64",
        "complex32",
        "chalf",
        "complex64",
        "cfloat",
        "complex128",
        "cdouble",
        "int8",
        "uint8",
        "int16",
        "short",
        "uint16",
        "int32",
        "int",
        "uint32",
        "uint64",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "qint8",
        "quint8",
        "qint32",
    ];
    const METHODS: &[&str] = &["half", "bfloat16", "double", "short", "char", "byte"];
    let Some(torch) = Torch::of(program, tree) else {
        return Vec::new();
    };
    let found = tree.nodes.iter().filter_map(|node| {
        let AnyNodeRef::ExprAttribute(it) = node.node else {
            return None;
        };
        let name = it.attr.as_str();
        let plain = match torch.attribute(it) {
            Some(path)
                if path
                    .strip_prefix("torch.")
                    .is_some_and(|it| TYPES.contains(&it)) =>
            {
                "float32"
            }
            None if METHODS.contains(&name) && is_called(tree, node.parent, it) => "float",
            _ => return None,
        };
        Some(RareType {
            name: it.attr.range,
            plain,
        })
    });
    found.collect()
}

/// Whether a call without arguments calls an attribute.
fn is_called(tree: &Tree<'_>, parent: Option<u32>, attribute: &ExprAttribute) -> bool {
    parent.is_some_and(|at| match tree.nodes[at as usize].node {
        AnyNodeRef::ExprCall(call) => {
            call.func.range() == attribute.range && call.arguments.is_empty()
        }
        _ => false,
    })
}
