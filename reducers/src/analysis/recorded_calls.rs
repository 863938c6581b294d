//! Calls of the program's functions that a traced run recorded, each with its arguments. Proposes
//! nothing. Called by the strategies of extraction.

use std::collections::BTreeMap;

use crate::{
    analysis::statement_tree::StatementTree,
    syntax::{
        AnyNodeRef,
        ast::{StmtClassDef, StmtFunctionDef},
    },
    trace::{
        evidence::{Arguments, Evidence, SourceLine},
        value::{RecordedValue, ValueKind},
    },
};

/// A call of a function of the module, or of a method.
pub(crate) struct RecordedCall<'a, 'e> {
    pub(crate) def: &'a StmtFunctionDef,
    /// The class of a method, and the object it was called on.
    pub(crate) owner: Option<(&'a StmtClassDef, &'e RecordedValue)>,
    /// The arguments by parameter.
    pub(crate) values: &'e BTreeMap<String, RecordedValue>,
}

impl<'a, 'e> RecordedCall<'a, 'e> {
    /// The call of the function that begins on a line.
    pub(crate) fn of(
        tree: &StatementTree<'a>,
        calls: &'e Arguments,
        line: SourceLine,
    ) -> Option<Self> {
        let values = calls.get(&line)?;
        let mut starting = tree.starting_on(line).iter();
        let (def, parent) = starting.find_map(|statement| match statement.node {
            AnyNodeRef::StmtFunctionDef(def) => Some((def, statement.parent)),
            _ => None,
        })?;
        let owner = match parent.map(|parent| tree.statements[parent].node) {
            None => None,
            Some(AnyNodeRef::StmtClassDef(class)) => {
                let own = def.parameters.iter_non_variadic_params().next()?.name();
                Some((class, values.get(own.as_str())?))
            }
            Some(_) => return None,
        };
        Some(Self { def, owner, values })
    }

    /// The callee if the call can stand alone: the function by its name, or the module whose
    /// `forward` it is; `None` for other methods.
    pub(crate) fn callee(&self) -> Option<&str> {
        let name = self.def.name.as_str();
        match self.owner {
            None => Some(name),
            Some((_, module)) => (name == "forward").then(|| module.text()),
        }
    }

    /// The call as an expression.
    pub(crate) fn expression(&self) -> Option<String> {
        let arguments = self.arguments(|_, value| value.text())?;
        Some(match (self.callee(), self.owner) {
            (None, Some((_, owner))) => {
                format!("{}.{}({arguments})", owner.text(), self.def.name)
            }
            (callee, _) => format!("{}({arguments})", callee?),
        })
    }

    /// The arguments of the call as the texts that stand for them, by parameter and value, the
    /// owner left out; nothing if one that is needed was not recorded.
    pub(crate) fn arguments<'t>(
        &'t self,
        text: impl Fn(&'t str, &'t RecordedValue) -> &'t str,
    ) -> Option<String> {
        let parameters = &self.def.parameters;
        let first_keyword_only =
            parameters.iter_non_variadic_params().count() - parameters.kwonlyargs.len();
        let mut given = Vec::new();
        let mut by_name = false;
        for (position, parameter) in parameters
            .iter_non_variadic_params()
            .enumerate()
            .skip(usize::from(self.owner.is_some()))
        {
            let name = parameter.name().as_str();
            by_name |= position >= first_keyword_only;
            match self.values.get(name) {
                Some(value) if by_name => given.push(format!("{name}={}", text(name, value))),
                Some(value) => given.push(text(name, value).to_owned()),
                None if parameter.default.is_some() => by_name = true,
                None => return None,
            }
        }
        Some(given.join(", "))
    }
}

/// A call of a module that the program defines.
pub(crate) struct ModuleCall<'a> {
    /// The name of its class.
    pub(crate) class: &'a str,
    /// The module as an expression.
    pub(crate) module: &'a str,
    /// Its arguments.
    pub(crate) given: Vec<&'a RecordedValue>,
    /// The parameters that took them.
    pub(crate) parameters: Vec<&'a str>,
}

impl<'a> ModuleCall<'a> {
    /// The first call of each module.
    pub(crate) fn all(tree: &StatementTree<'a>, evidence: &'a Evidence) -> Vec<Self> {
        let lines = evidence.arguments.keys();
        lines
            .filter_map(|&line| Self::of(&RecordedCall::of(tree, &evidence.arguments, line)?))
            .collect()
    }

    fn of(call: &RecordedCall<'a, 'a>) -> Option<Self> {
        let is_module = |value: &RecordedValue| value.kind == ValueKind::Module;
        let (class, module) = call.owner.filter(|(_, owner)| is_module(owner))?;
        if call.def.name.as_str() != "forward" {
            return None;
        }
        let parameters: Vec<&str> = (call.def.parameters.iter_non_variadic_params().skip(1))
            .filter(|parameter| {
                let value = call.values.get(parameter.name().as_str());
                parameter.default.is_none() || value.is_some_and(|value| !value.is_none())
            })
            .map(|parameter| parameter.name().as_str())
            .collect();
        let given = parameters.iter().map(|name| call.values.get(*name));
        Some(Self {
            class: class.name.as_str(),
            module: module.text(),
            given: given.collect::<Option<Vec<_>>>()?,
            parameters,
        })
    }

    /// Its arguments as a row of expressions.
    pub(crate) fn row(&self) -> String {
        let texts: Vec<&str> = self.given.iter().map(|value| value.text()).collect();
        texts.join(", ")
    }
}
