//! The compilers of a program: the name and the settings of each compiler that it calls. Called by
//! passes that compile a part of the program alone.

use crate::{
    syntax::{Program, Ranged, TextRange, ast::StmtFunctionDef},
    torch::{
        compilation::{Compilation, Form, compilations},
        names::Torch,
    },
};

/// A compiler and its settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Compiler {
    name: String,
    /// Whether the settings are given by a call of their own.
    comes_first: bool,
    settings: String,
}

/// The compilers that a program calls.
pub(crate) struct Compilers {
    /// Each once.
    pub(crate) all: Vec<Compiler>,
    /// Where the program names them.
    mentions: Vec<TextRange>,
}

impl Compilers {
    pub(crate) fn of(program: &Program) -> Self {
        let tree = program.tree();
        let found =
            Torch::of(program, tree).map_or_else(Vec::new, |torch| compilations(&torch, tree));
        let mut all: Vec<Compiler> = found
            .iter()
            .filter_map(|compilation| Compiler::of(program, compilation))
            .collect();
        all.sort();
        all.dedup();
        let mentions = found.iter().map(|compilation| compilation.mention);
        Self {
            all,
            mentions: mentions.collect(),
        }
    }

    /// Whether a function is compiled by one of its decorators.
    pub(crate) fn decorate(&self, function: &StmtFunctionDef) -> bool {
        let mut decorators = function.decorator_list.iter();
        decorators.any(|decorator| {
            let mut mentions = self.mentions.iter();
            mentions.any(|mention| decorator.range.contains_range(*mention))
        })
    }
}

impl Compiler {
    fn of(program: &Program, compilation: &Compilation<'_>) -> Option<Self> {
        let is_method = compilation.form == Form::Method;
        let name = if is_method {
            "torch.compile"
        } else {
            program.slice(compilation.mention)
        };
        let comes_first = compilation.form == Form::Optimize;
        let Some(call) = compilation.call else {
            return compilation.around.is_none().then(|| Self {
                name: name.to_owned(),
                comes_first,
                settings: String::new(),
            });
        };
        let positional = call
            .arguments
            .args
            .iter()
            .filter(|_| comes_first)
            .map(Ranged::range);
        let named = call
            .arguments
            .keywords
            .iter()
            .filter(|keyword| keyword.arg.as_ref().is_none_or(|name| name.id != "model"));
        let settings: Vec<&str> = positional
            .chain(named.map(Ranged::range))
            .map(|range| program.slice(range))
            .collect();
        Some(Self {
            name: name.to_owned(),
            comes_first,
            settings: settings.join(", "),
        })
    }

    /// As a decorator.
    pub(crate) fn decorator(&self) -> String {
        match self.settings.as_str() {
            "" if !self.comes_first => format!("@{}", self.name),
            settings => format!("@{}({settings})", self.name),
        }
    }

    /// Of a model.
    pub(crate) fn call(&self, model: &str) -> String {
        match self.settings.as_str() {
            settings if self.comes_first => format!("{}({settings})({model})", self.name),
            "" => format!("{}({model})", self.name),
            settings => format!("{}({model}, {settings})", self.name),
        }
    }
}
