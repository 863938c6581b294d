//! What a program compiles with: the name and the settings of each compiler that it calls. Called by
//! passes that compile a part of the program alone.

use crate::{
    syntax::{Program, Ranged},
    torch::compilation::{Compilation, Form},
};

/// What compiles, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Compiler {
    name: String,
    /// Whether the settings are given by a call of their own.
    comes_first: bool,
    settings: String,
}

impl Compiler {
    /// Those of a program, each once.
    pub(crate) fn all(program: &Program, found: &[Compilation<'_>]) -> Vec<Self> {
        let mut compilers: Vec<Self> = found
            .iter()
            .filter_map(|compilation| Self::of(program, compilation))
            .collect();
        compilers.sort();
        compilers.dedup();
        compilers
    }

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
