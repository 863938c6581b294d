//! The texts that expressions stand for, by which names are looked up.

use std::collections::BTreeSet;

use super::NameResolver;
use crate::syntax::ast::{self, Expr, Operator};

/// The parts of a text that may be names, and empty ones between other marks.
pub(crate) fn name_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_alphanumeric() || char == '_'))
}

impl NameResolver {
    /// The texts that an expression may have, as far as that is known without running it.
    pub fn texts(&self, expr: &Expr) -> BTreeSet<String> {
        match expr {
            Expr::StringLiteral(text) => [text.value.to_str().to_owned()].into(),
            Expr::BytesLiteral(bytes) => {
                let bytes: Vec<u8> = bytes.value.bytes().collect();
                [String::from_utf8_lossy(&bytes).into_owned()].into()
            }
            Expr::Name(name) => self
                .texts
                .get(name.id.as_str())
                .cloned()
                .unwrap_or_default(),
            Expr::If(choice) => &self.texts(&choice.body) | &self.texts(&choice.orelse),
            Expr::BinOp(operation) if operation.op == Operator::Add => {
                let right = self.texts(&operation.right);
                self.texts(&operation.left)
                    .iter()
                    .flat_map(|left| right.iter().map(move |right| format!("{left}{right}")))
                    .collect()
            }
            Expr::FString(text) => {
                let mut whole = String::new();
                for element in text.value.elements() {
                    match element {
                        ast::InterpolatedStringElement::Literal(literal) => {
                            whole.push_str(&literal.value);
                        }
                        ast::InterpolatedStringElement::Interpolation(part) => {
                            match self.texts(&part.expression).first() {
                                Some(text) => whole.push_str(text),
                                None => return BTreeSet::new(),
                            }
                        }
                    }
                }
                [whole].into()
            }
            Expr::Subscript(subscript) if is_reversal(&subscript.slice) => self
                .texts(&subscript.value)
                .iter()
                .map(|text| text.chars().rev().collect())
                .collect(),
            Expr::Call(call) => self.texts_of_call(call),
            _ => BTreeSet::new(),
        }
    }

    fn texts_of_call(&self, call: &ast::ExprCall) -> BTreeSet<String> {
        let args = &call.arguments.args;
        if let Expr::Attribute(attribute) = &*call.func {
            let own = self.texts(&attribute.value);
            let arg = |at: usize| args.get(at).map(|arg| self.texts(arg)).unwrap_or_default();
            let change = |change: fn(&str) -> String| own.iter().map(|text| change(text)).collect();
            return match attribute.attr.as_str() {
                "lower" | "casefold" => change(str::to_lowercase),
                "upper" => change(str::to_uppercase),
                "strip" => change(|text| text.trim().to_owned()),
                "decode" | "encode" | "format" => own,
                "replace" => {
                    let (from, to) = (arg(0), arg(1));
                    let (Some(from), Some(to)) = (from.first(), to.first()) else {
                        return BTreeSet::new();
                    };
                    own.iter().map(|text| text.replace(from, to)).collect()
                }
                "join" => {
                    let Some(
                        Expr::List(ast::ExprList { elts, .. })
                        | Expr::Tuple(ast::ExprTuple { elts, .. }),
                    ) = args.first()
                    else {
                        return BTreeSet::new();
                    };
                    let parts: Option<Vec<String>> = elts
                        .iter()
                        .map(|element| self.texts(element).pop_first())
                        .collect();
                    own.iter()
                        .zip(parts)
                        .map(|(between, parts)| parts.join(between))
                        .collect()
                }
                _ => BTreeSet::new(),
            };
        }
        let function = self.resolve(&call.func);
        if function.contains("builtins.chr")
            && let Some(Expr::NumberLiteral(number)) = args.first()
            && let ast::Number::Int(int) = &number.value
            && let Some(char) = int.as_u32().and_then(char::from_u32)
        {
            return [char.to_string()].into();
        }
        if function.contains("builtins.str")
            || function.contains("os.path.expanduser")
            || function.contains("os.path.abspath")
        {
            return args.first().map(|arg| self.texts(arg)).unwrap_or_default();
        }
        if function.contains("os.path.join") {
            let parts: Option<Vec<String>> = args
                .iter()
                .map(|part| self.texts(part).pop_first())
                .collect();
            return parts.map(|parts| parts.join("/")).into_iter().collect();
        }
        BTreeSet::new()
    }
}

/// `[::-1]`
fn is_reversal(slice: &Expr) -> bool {
    let Expr::Slice(slice) = slice else {
        return false;
    };
    let is_minus_one =
        |step: &Expr| matches!(step, Expr::UnaryOp(unary) if unary.op == ast::UnaryOp::USub);
    slice.lower.is_none()
        && slice.upper.is_none()
        && slice.step.as_deref().is_some_and(is_minus_one)
}
