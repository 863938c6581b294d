//! What packages read of functions that they decorate, and of types that they are given: a package
//! that checks types, makes commands or serves requests goes by the annotations and the names of
//! parameters. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        calls::{annotated, callee_name},
        class_statements::known_to_packages,
        names::name_words,
        own_classes::OwnClasses,
        type_shapes::TypeShapes,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, StmtClassDef, StmtFunctionDef},
    },
};

/// Types of the language's own that are composed of others.
const COMPOSED: [&str; 6] = ["dict", "frozenset", "list", "set", "tuple", "type"];

/// What stands for the result of a function among its parameters, none of which can be called so.
const RESULT: &str = "return";

/// What packages read of functions and types, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageFunctions {
    /// The types of the parameters and results of decorated functions.
    types: BTreeMap<(String, String), BTreeSet<String>>,
    /// The parameters that a decorator names.
    named: BTreeSet<(String, String)>,
    /// The types that calls of packages are given.
    given: BTreeMap<String, BTreeSet<String>>,
    /// The classes that derive from one of the program's own.
    kin: BTreeSet<(String, String)>,
    /// The program's own classes among all those types.
    read: BTreeSet<String>,
    /// The annotated fields of the classes that packages know.
    fields: BTreeSet<(String, String)>,
}

impl PackageFunctions {
    /// What packages read in a program.
    pub fn of(program: &Program) -> Self {
        let types = TypeShapes::of(program);
        let classes = OwnClasses::of(program);
        let known = known_to_packages(program);
        let mut found = Self::default();
        for node in &program.tree().nodes {
            match node.node {
                AnyNodeRef::StmtFunctionDef(function) => {
                    found.add_function(program, &types, function);
                }
                AnyNodeRef::ExprCall(call) if types.imported.is_of_installed(&call.func) => {
                    let arguments = call.arguments.arguments_source_order();
                    let composed = arguments.filter_map(|argument| {
                        let shape = types.shape(argument.value());
                        let of = argument.value().as_subscript_expr()?;
                        let of = types.shape(&of.value);
                        let is_type = of.starts_with("imported ") || COMPOSED.contains(&&*of);
                        is_type.then_some(shape)
                    });
                    let composed: Vec<String> = composed.collect();
                    if let Some(name) = callee_name(&call.func).filter(|_| !composed.is_empty()) {
                        found.add_read(&composed);
                        let given = found.given.entry(name.to_owned()).or_default();
                        given.extend(composed);
                    }
                }
                AnyNodeRef::StmtClassDef(class) => {
                    let lineage = classes.with_bases(&class.name).into_iter();
                    let kin = lineage.map(|base| (class.name.to_string(), base.name.to_string()));
                    found.kin.extend(kin.filter(|(class, base)| class != base));
                    let is_known = known.contains(class.name.as_str());
                    let fields = annotated(class).filter(|_| is_known);
                    let fields =
                        fields.map(|(field, _)| (class.name.to_string(), field.to_owned()));
                    found.fields.extend(fields);
                }
                _ => {}
            }
        }
        found
    }

    fn add_function(
        &mut self,
        program: &Program,
        types: &TypeShapes<'_>,
        function: &StmtFunctionDef,
    ) {
        let decorators = function.decorator_list.iter();
        let decorators = decorators.map(|decorator| &decorator.expression);
        let decorators: Vec<&Expr> = decorators
            .filter(|of| is_of_package(program, types, of))
            .collect();
        if decorators.is_empty() {
            return;
        }
        let name = function.name.to_string();
        let parameters = function.parameters.iter_non_variadic_params();
        let mut annotated: Vec<(String, &Expr)> = parameters
            .filter_map(|parameter| {
                let annotation = parameter.annotation()?;
                Some((parameter.name().to_string(), annotation))
            })
            .collect();
        annotated.extend(
            function
                .returns
                .as_deref()
                .map(|of| (RESULT.to_owned(), of)),
        );
        for (parameter, annotation) in annotated {
            let shape = types.shape(annotation);
            self.add_read(std::slice::from_ref(&shape));
            let known = self.types.entry((name.clone(), parameter)).or_default();
            known.insert(shape);
        }
        let texts = decorators.iter().map(|of| program.slice(of.range()));
        let words: BTreeSet<&str> = texts.flat_map(name_words).collect();
        let parameters = function.parameters.iter_non_variadic_params();
        let named = parameters.filter(|parameter| words.contains(parameter.name().as_str()));
        self.named
            .extend(named.map(|parameter| (name.clone(), parameter.name().to_string())));
    }

    /// Notes the program's own classes in some types.
    fn add_read(&mut self, shapes: &[String]) {
        let classes = shapes
            .iter()
            .flat_map(|shape| shape.split("class ").skip(1));
        let names = classes.filter_map(|rest| name_words(rest).next());
        self.read.extend(names.map(str::to_owned));
    }

    /// Whether packages read the same in a candidate, as far as it still has it.
    pub fn are_read_alike(&self, candidate: &Program) -> bool {
        let is_read = !(self.types.is_empty() && self.named.is_empty() && self.given.is_empty());
        if !is_read && self.fields.is_empty() {
            return true;
        }
        let its = Self::of(candidate);
        let functions = candidate.tree().nodes.iter();
        let functions = functions.filter_map(|node| node.node.as_stmt_function_def().copied());
        let mut parameters: BTreeSet<(String, String)> = BTreeSet::new();
        let mut decorated: BTreeSet<&str> = BTreeSet::new();
        for function in functions {
            let all = function.parameters.iter_non_variadic_params();
            let name = function.name.to_string();
            parameters.extend(all.map(|each| (name.clone(), each.name().to_string())));
            parameters.insert((name, RESULT.to_owned()));
            if !function.decorator_list.is_empty() {
                decorated.insert(function.name.as_str());
            }
        }
        let classes = candidate.tree().nodes.iter();
        let classes = classes.filter_map(|node| node.node.as_stmt_class_def().copied());
        let classes: BTreeMap<&str, &StmtClassDef> =
            classes.map(|class| (class.name.as_str(), class)).collect();
        let has = |class: &str| classes.contains_key(class);
        let keeps_types = self.types.iter().all(|(parameter, known)| {
            let is_there = parameters.contains(parameter) && decorated.contains(&*parameter.0);
            let shapes = its.types.get(parameter);
            // Who goes by the type of a result may do without it.
            let is_optional = parameter.1 == RESULT;
            !is_there || shapes.map_or(is_optional, |shapes| shapes.is_subset(known))
        });
        let keeps_named = self
            .named
            .iter()
            .all(|parameter| !decorated.contains(&*parameter.0) || parameters.contains(parameter));
        let is_given = its.given.iter().all(|(name, shapes)| {
            let known = self.given.get(name);
            known.is_none_or(|known| shapes.is_subset(known))
        });
        let mut kin = self.kin.iter();
        let keeps_kin = kin.all(|pair| {
            !self.read.contains(&pair.1) || its.kin.contains(pair) || !has(&pair.0) || !has(&pair.1)
        });
        // Data for a field that a class lacks do not fit it any more.
        let words = words(candidate);
        let mut fields = self.fields.iter();
        let fits = fields.all(|(class, field)| {
            let mut its = classes
                .get(class.as_str())
                .into_iter()
                .flat_map(|class| annotated(class));
            !has(class) || !words.contains(&**field) || its.any(|(its, _)| its == field)
        });
        keeps_types && keeps_named && is_given && keeps_kin && fits
    }
}

/// The keywords of a program, and the words of its texts.
fn words(program: &Program) -> BTreeSet<&str> {
    let nodes = program.tree().nodes.iter();
    let texts = nodes.filter_map(|node| match node.node {
        AnyNodeRef::Keyword(keyword) => Some(keyword.arg.as_ref()?.as_str()),
        AnyNodeRef::StringLiteral(text) => Some(text.as_str()),
        _ => None,
    });
    texts.flat_map(name_words).collect()
}

/// Whether a decorator is a package's, or a method of an object that is no class of the program.
fn is_of_package(program: &Program, types: &TypeShapes<'_>, decorator: &Expr) -> bool {
    let of = decorator
        .as_call_expr()
        .map_or(decorator, |call| &call.func);
    types.imported.is_of_installed(of)
        || of.as_attribute_expr().is_some_and(|method| {
            let object = method.value.as_name_expr();
            object.is_some_and(|object| {
                let path = types.imported.name(&object.id);
                path.is_none() && !program.scopes().is_class(&object.id)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "from typing import Union\nNumbers = list\nfrom lib import checked, load, app\nclass Base: pass\n\
        class Sub(Base):\n    size: int\n    unit: str\nclass Other(Sub): pass\n@checked(order='by')\ndef f(x: type[Base], by, y) -> Numbers[int]:\n    pass\n\
        load(Union[Sub, int], 1)\nf(Sub, 1, {'size': 2})\n";

    #[test]
    fn packages_read_annotations_and_types() {
        let known = PackageFunctions::of(&Program::parse(SCRIPT).unwrap());
        let keeps = |text: &str| known.are_read_alike(&Program::parse(text).unwrap());
        assert!(keeps(SCRIPT) && keeps("x = 1\n"));
        for (from, to, expected) in [
            ("type[Base]", "Base", false),
            ("x: type[Base]", "x", false),
            ("x: type[Base], ", "", true),
            ("Numbers[int]", "Numbers", false),
            ("Numbers[int]", "list[int]", true),
            ("Numbers = list\n", "", false),
            ("Numbers = list\n", "Numbers = 0\n", false),
            (" -> Numbers[int]", "", true),
            ("@checked(order='by')\ndef f", "def f", true),
            ("by, y", "by", true),
            ("by, y", "y", false),
            ("@checked(order='by')\n", "", true),
            ("class Sub(Base)", "class Sub", false),
            ("class Other(Sub)", "class Other(Base)", false),
            ("class Other(Sub): pass\n", "", true),
            ("    unit: str\n", "", true),
            ("    size: int\n", "", false),
            (
                "size: int\n    unit: str\n",
                "unit: str\nSub(unit='size')\n",
                false,
            ),
            ("Union[Sub, int]", "Sub", true),
            ("Union[Sub, int]", "Union[Sub, str]", false),
        ] {
            let candidate = SCRIPT.replace(from, to);
            assert_ne!(candidate, SCRIPT);
            assert_eq!(keeps(&candidate), expected, "{from:?} to {to:?}");
        }
    }
}
