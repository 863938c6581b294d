//! The ways in which scripts hide what they do: character codes, escapes, encodings. Called by the
//! rules.

use minrepro_reducers::syntax::{
    AnyNodeRef, Ranged, TextRange,
    ast::{self, Expr},
};

use super::{
    Concern,
    rules::{Reviewer, shown},
};

impl Reviewer<'_> {
    /// Functions that decode.
    pub(super) fn decoding(&mut self, path: &str, range: TextRange) {
        let name = path.rsplit('.').next().unwrap_or_default();
        let decodes = match path.split('.').next().unwrap_or_default() {
            "base64" => name.contains("decode"),
            "binascii" => name.starts_with("a2b") || name == "unhexlify",
            "codecs" => name == "decode" || name == "getdecoder",
            "zlib" | "lzma" | "bz2" | "gzip" => name.starts_with("decompress"),
            "builtins" => path.ends_with("bytes.fromhex") || path.ends_with("bytearray.fromhex"),
            _ => false,
        };
        if decodes {
            self.add(
                range,
                Concern::Obfuscation,
                format!("`{}` decodes hidden data", shown(path)),
            );
        }
    }

    /// Letters written as escapes, which honest code has no reason for.
    pub(super) fn escapes(&mut self, range: TextRange) {
        let text = self.program.slice(range);
        let mut letters = 0;
        for (at, _) in text.match_indices("\\x").chain(text.match_indices("\\u00")) {
            let digits = if text[at..].starts_with("\\u00") {
                text.get(at + 4..at + 6)
            } else {
                text.get(at + 2..at + 4)
            };
            let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            letters +=
                usize::from(code.is_some_and(|byte| {
                    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'('
                }));
        }
        let total = text.len();
        if letters >= 4 && letters * 12 > total {
            self.add(
                range,
                Concern::Obfuscation,
                format!("writes {letters} letters as escapes"),
            );
        }
    }

    /// Texts built from character codes within one statement.
    pub(super) fn characters(&mut self, statement: AnyNodeRef<'_>) {
        if matches!(
            statement,
            AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::StmtClassDef(_)
        ) {
            return;
        }
        let (mut chrs, mut codes, mut makes_bytes) = (0, 0, false);
        for node in self
            .tree
            .nodes
            .iter()
            .filter(|node| statement.range().contains_range(node.node.range()))
        {
            match node.node {
                AnyNodeRef::ExprName(name) if name.id == "chr" && !self.names.binds("chr") => {
                    chrs += 1;
                }
                AnyNodeRef::ExprCall(call) => {
                    let path = self.names.resolve(&call.func);
                    makes_bytes |=
                        path.contains("builtins.bytes") || path.contains("builtins.bytearray");
                }
                AnyNodeRef::ExprList(list) => codes = codes.max(numbers(&list.elts)),
                AnyNodeRef::ExprTuple(tuple) => codes = codes.max(numbers(&tuple.elts)),
                _ => {}
            }
        }
        if chrs >= 4 || ((chrs >= 1 || makes_bytes) && codes >= 6) {
            self.add(
                statement.range(),
                Concern::Obfuscation,
                "builds a text from character codes".to_owned(),
            );
        }
    }
}

fn numbers(elements: &[Expr]) -> usize {
    let is_code = |element: &&Expr| {
        let Expr::NumberLiteral(number) = element else {
            return false;
        };
        let ast::Number::Int(int) = &number.value else {
            return false;
        };
        int.as_u32().is_some_and(|code| code > 31 && code < 127)
    };
    elements.iter().filter(is_code).count()
}

/// PyTorch's own minifier writes its settings as pickled bytes.
pub(super) fn is_load_config(node: AnyNodeRef<'_>) -> bool {
    matches!(node, AnyNodeRef::ExprCall(call) if matches!(&*call.func, Expr::Attribute(attribute) if attribute.attr.as_str() == "load_config"))
}

/// Whether a text is long and only has the characters of an encoding.
pub(super) fn is_packed(text: &str) -> bool {
    text.len() >= 160
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "+/=_-\n".contains(char))
        && text.chars().any(|char| char.is_ascii_digit())
}
