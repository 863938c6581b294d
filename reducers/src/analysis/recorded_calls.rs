//! Calls of the program's functions that a traced run recorded, each with its arguments. Proposes
//! nothing. Called by the strategies of extraction.

use std::collections::BTreeMap;

use crate::{
    analysis::statement_tree::StatementTree,
    syntax::{
        AnyNodeRef,
        ast::{StmtClassDef, StmtFunctionDef},
    },
    trace::evidence::Evidence,
};

/// A call of a function of the module, or of a method.
pub(crate) struct RecordedCall<'a, 'e> {
    pub(crate) def: &'a StmtFunctionDef,
    /// The class of a method, and the object it was called on.
    pub(crate) owner: Option<(&'a StmtClassDef, &'e str)>,
    /// The arguments by parameter, as expressions.
    pub(crate) values: &'e BTreeMap<String, String>,
}

impl<'a, 'e> RecordedCall<'a, 'e> {
    /// The call of the function that begins on a line.
    pub(crate) fn of(
        tree: &StatementTree<'a>,
        calls: &'e BTreeMap<u32, BTreeMap<String, String>>,
        line: u32,
    ) -> Option<Self> {
        let mut starting = tree
            .statements
            .iter()
            .filter(|statement| tree.line_of(statement.range.start()) == line);
        let (def, parent) = starting.find_map(|statement| match statement.node {
            AnyNodeRef::StmtFunctionDef(def) => Some((def, statement.parent)),
            _ => None,
        })?;
        let values = calls.get(&line)?;
        let owner = match parent.map(|parent| tree.statements[parent].node) {
            None => None,
            Some(AnyNodeRef::StmtClassDef(class)) => {
                let own = def.parameters.iter_non_variadic_params().next()?.name();
                Some((class, values.get(own.as_str())?.as_str()))
            }
            Some(_) => return None,
        };
        Some(Self { def, owner, values })
    }

    /// The call as an expression.
    pub(crate) fn expression(&self) -> Option<String> {
        let arguments = self.arguments(self.values)?;
        Some(match (self.owner, self.def.name.as_str()) {
            (None, name) => format!("{name}({arguments})"),
            (Some((_, module)), "forward") => format!("{module}({arguments})"),
            (Some((_, owner)), name) => format!("{owner}.{name}({arguments})"),
        })
    }

    /// The arguments of a call that gives the function some values, the owner left out.
    pub(crate) fn arguments(&self, values: &BTreeMap<String, String>) -> Option<String> {
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
            match values.get(name) {
                Some(value) if by_name => given.push(format!("{name}={value}")),
                Some(value) => given.push(value.clone()),
                None if parameter.default.is_some() => by_name = true,
                None => return None,
            }
        }
        Some(given.join(", "))
    }
}

/// A call of a module of PyTorch that the program defines.
pub(crate) struct ModuleCall<'a> {
    /// The name of its class.
    pub(crate) class: &'a str,
    /// The module as an expression.
    pub(crate) module: &'a str,
    /// Its arguments as expressions.
    pub(crate) given: Vec<&'a str>,
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
        let (class, module) = call.owner.filter(|_| call.def.name.as_str() == "forward")?;
        let value = |name: &str| call.values.get(name).map(String::as_str);
        let parameters: Vec<&str> = (call.def.parameters.iter_non_variadic_params().skip(1))
            .filter(|parameter| {
                parameter.default.is_none()
                    || value(parameter.name()).is_some_and(|value| value != "None")
            })
            .map(|parameter| parameter.name().as_str())
            .collect();
        let given = parameters.iter().map(|name| value(name));
        Some(Self {
            class: class.name.as_str(),
            module,
            given: given.collect::<Option<Vec<_>>>()?,
            parameters,
        })
    }
}
