//! The ways in which scripts hide what they do: internals of the interpreter, character codes,
//! escapes, encodings, code in texts. Called by the rules.

use minrepro_reducers::syntax::{
    AnyNodeRef, Program, Ranged, TextRange, TextSize,
    ast::{self, Expr},
};

use super::{
    Concern, Grade, files, pickled,
    rules::{CodeOrigin, NodePlace, Reviewer, shown},
};

/// Special names that ordinary scripts use, without their underscores.
const SPECIAL: &str = " all abs add aenter aexit aiter and anext annotations await bool bytes call \
    cause ceil class class_getitem complex contains context copy cuda_array_interface \
    array array_function array_interface array_priority array_ufunc array_wrap deepcopy del \
    delattr delete delitem dict dir divmod doc dlpack dlpack_device enter eq exit file float \
    floor floordiv format future fx_repr ge get getattr getitem getstate gt hash iadd iand \
    imul index init init_subclass instancecheck int invert isub iter itruediv jit_ignored_attributes \
    jit_unused_properties le len length_hint lt main \
    match_args matmul missing mod module mul name ne neg new next notes or orig_class \
    orig_bases origin args pos post_init pow prepare qualname radd rand repr reversed rmatmul rmul ror round \
    rpow rsub rtruediv rxor set set_name setattr setitem setstate sizeof slots str sub \
    subclasscheck subclasshook suppress_context torch_dispatch torch_function tensor_flatten \
    tensor_unflatten traceback truediv trunc version weakref wrapped xor \
    coerce_same_metadata_as_tangent coerce_tangent_metadata obj_flatten obj_unflatten \
    metadata_guard required_keys optional_keys total fields dataclass_fields members stdout stderr ";

/// Attributes of frames, code and generators, by which a script gets at its caller's names.
const FRAMES: &[&str] = &[
    "ag_frame",
    "co_code",
    "co_consts",
    "co_names",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "func_globals",
    "gi_code",
    "gi_frame",
    "tb_frame",
];

/// Attributes that run commands or code, or reach other machines, whatever holds them.
const LEADING_OUT: &[&str] = &[
    "system",
    "popen",
    "exec_module",
    "load_module",
    "import_module",
    "load_library",
    "load_extension",
    "enable_load_extension",
    "set_codegen",
    "subprocess_exec",
    "subprocess_shell",
    "create_connection",
    "create_datagram_endpoint",
    "create_unix_connection",
    "_module",
];

impl<'a> Reviewer<'a> {
    /// Encodings by which Python reads another script than a person, and characters that change
    /// the order in which a text is shown.
    pub(super) fn source(&mut self) {
        let text = self.program.text();
        for (at, line) in text.lines().take(2).enumerate() {
            let Some(encoding) = cookie(line) else {
                continue;
            };
            if !is_ordinary_encoding(encoding) {
                let what = format!("asks to be read in the encoding `{encoding}`");
                let offset = if at == 0 {
                    0
                } else {
                    text.find('\n').unwrap_or(0) + 1
                };
                let range = TextRange::empty(TextSize::new(offset as u32));
                self.add(range, Concern::Obfuscation, what);
            }
        }
        let reorders =
            |char: char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if let Some(at) = text.find(reorders) {
            let range = TextRange::empty(TextSize::new(at as u32));
            let what = "has characters that change the order of what is shown";
            self.add(range, Concern::Obfuscation, what);
        }
    }

    /// A literal of bytes.
    pub(super) fn bytes(&mut self, bytes: &ast::ExprBytesLiteral, place: NodePlace<'a>) {
        let value: Vec<u8> = bytes.value.bytes().collect();
        let is_data = pickled::is_data(&value);
        if value.len() > 256 && !is_data {
            let what = format!("contains a literal of {} bytes", value.len());
            self.add(place.range, Concern::Obfuscation, what);
        }
        if pickled::calls(&value) {
            let what = "contains a pickle that calls functions";
            self.add(place.range, Concern::Loading, what);
        }
        if !is_data {
            self.escapes(place.range);
        }
    }

    /// A literal text.
    pub(super) fn text(&mut self, literal: &ast::ExprStringLiteral, place: NodePlace<'a>) {
        self.escapes(place.range);
        let text = literal.value.to_str();
        let is_docstring = matches!(place.above, Some(AnyNodeRef::StmtExpr(_)));
        if is_docstring {
            return;
        }
        if is_packed(text) {
            let what = "contains a long text that looks encoded";
            self.add(place.range, Concern::Obfuscation, what);
        }
        if text.contains("\x1b]") || text.contains("\x1bP") {
            let what = "contains a text that controls the terminal";
            self.add(place.range, Concern::Obfuscation, what);
        }
        if names_internals(text) {
            let what = "contains a text that reaches the internals of the interpreter";
            self.add(place.range, Concern::Obfuscation, what);
        } else if self.depth == CodeOrigin::Script && text.contains('(') {
            self.code_in_text(text, place.range);
        }
        if files::is_system(text) || self.opens_blindly && files::is_absolute_file(text) {
            let what = format!(
                "{}{text}`, which is outside the script's folder",
                files::NAMED
            );
            self.add(place.range, Concern::Files, what);
        }
    }

    /// A text that would be dangerous as code.
    fn code_in_text(&mut self, text: &str, range: TextRange) {
        let Ok(program) = Program::parse(text.trim().to_owned() + "\n") else {
            return;
        };
        let mut found = Reviewer::new(&program, CodeOrigin::Text).findings();
        found.retain(|finding| finding.concern.grade() == Grade::Dangerous);
        if let Some(finding) = found.first() {
            let what = format!("contains code in a text: {}", finding.what);
            self.add(range, finding.concern, what);
        }
    }

    /// Functions that decode: harmless with an ordinary encoding.
    pub(super) fn decoding(&mut self, path: &str, call: &'a ast::ExprCall) {
        if path.contains('(') {
            return;
        }
        let at = usize::from(matches!(path, "codecs.decode" | "codecs.encode"));
        let encoding = minrepro_reducers::analysis::calls::any_argument(call, at, &["encoding"]);
        let texts = encoding.map(|encoding| self.names.texts(encoding));
        let is_ordinary = texts.is_none_or(|texts| {
            !texts.is_empty() && texts.iter().all(|text| is_ordinary_encoding(text))
        });
        if !is_ordinary {
            let what = format!("`{}` decodes hidden data", shown(path));
            self.add(call.range(), Concern::Obfuscation, what);
        }
    }

    /// Letters written as escapes, which honest code has no reason for.
    fn escapes(&mut self, range: TextRange) {
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
            let what = format!("writes {letters} letters as escapes");
            self.add(range, Concern::Obfuscation, what);
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
            let what = "builds a text from character codes";
            self.add(statement.range(), Concern::Obfuscation, what);
        }
    }

    /// Methods that run texts as code: `frame.query("@x")`, `frame.eval("...")`.
    pub(super) fn method(
        &mut self,
        call: &'a ast::ExprCall,
        functions: &std::collections::BTreeSet<String>,
        place: NodePlace<'a>,
    ) {
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        let name = method.attr.as_str();
        let texts: Vec<String> = call
            .arguments
            .args
            .iter()
            .flat_map(|arg| self.names.texts(arg))
            .collect();
        match name {
            "query" | "eval" if texts.iter().any(|text| text.contains('@')) => {
                let what = format!("`{name}` runs a text as code");
                self.add(place.range, Concern::Commands, what);
            }
            "execute" | "executescript"
                if texts.iter().any(|text| {
                    let upper = text.to_uppercase();
                    upper.contains("ATTACH") || upper.contains("LOAD_EXTENSION")
                }) =>
            {
                let what = format!("`{name}` opens another data base");
                self.add(place.range, Concern::Files, what);
            }
            _ => {}
        }
        if matches!(name, "format" | "format_map") {
            let formats = self.names.texts(&method.value);
            if formats.iter().any(|text| names_internals(text))
                || self.is_computed(&method.value, 4)
            {
                let what = format!("`{name}` may reach the internals of the interpreter");
                self.add(place.range, Concern::Obfuscation, what);
            }
        }
        let climbs = |text: &String| text.starts_with('/') || text.starts_with("..");
        if name == "joinpath" && texts.iter().any(climbs) {
            let what = "`joinpath` reaches outside the script's folder";
            self.add(place.range, Concern::Files, what);
        }
        let writes = functions.iter().any(|path| path.contains('(')) || functions.is_empty();
        if writes
            && texts
                .iter()
                .any(|text| files::is_outside(text) && text.len() > 3)
            && saves(name)
        {
            let what = format!("`{name}` reaches outside the script's folder");
            self.add(place.range, Concern::Files, what);
        }
    }

    /// Keywords that let a function run code from elsewhere.
    pub(super) fn keywords(
        &mut self,
        call: &'a ast::ExprCall,
        functions: &std::collections::BTreeSet<String>,
    ) {
        for keyword in &call.arguments.keywords {
            let is_off = matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value)
                || keyword.value.is_none_literal_expr();
            let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
            let found = match name {
                "trust_remote_code" | "trust_repo" if !is_off => {
                    Some((Concern::Commands, "runs code that it downloads"))
                }
                "allow_pickle" if !is_off && functions.iter().any(|path| path.contains("read")) => {
                    Some((Concern::Loading, "unpickles a file"))
                }
                "pickle_module" if !is_off => Some((Concern::Loading, "unpickles in another way")),
                "eval_str" if !is_off => Some((Concern::Commands, "runs annotations as code")),
                "type_expr" if keyword.value.is_string_literal_expr() => {
                    Some((Concern::Commands, "puts a text into code that is run"))
                }
                _ => None,
            };
            if let Some((concern, what)) = found {
                self.add(call.range(), concern, format!("`{name}` {what}"));
            }
            let is_compile = functions.contains("torch.compile")
                || functions.iter().any(|path| path.contains("._inductor."));
            if name == "options" && is_compile {
                self.settings(&keyword.value);
            }
            if functions.iter().any(|path| path.ends_with("config.patch")) {
                self.setting_of(name, &keyword.value);
            }
        }
        if functions.iter().any(|path| path.ends_with("config.patch"))
            && let Some(dict) = call.arguments.args.first()
        {
            self.settings(dict);
        }
    }
}

/// Methods that write a file which their first argument names.
fn saves(method: &str) -> bool {
    let starts = ["to_", "save", "write", "export", "dump", "open", "extract"];
    starts.iter().any(|start| method.starts_with(start))
        || ["tofile", "load", "load_from", "rename"].contains(&method)
}

/// Attributes that lead from any object to the internals of the interpreter.
pub(super) fn is_internal(name: &str) -> bool {
    let special = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("__"));
    match special {
        Some(name) => !SPECIAL.contains(&format!(" {name} ")),
        None => FRAMES.contains(&name),
    }
}

/// Attributes that run commands or code, whatever holds them.
pub(super) fn leads_out(name: &str) -> bool {
    LEADING_OUT.contains(&name)
}

/// Whether a text names internals, as format strings and hidden code do.
fn names_internals(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "__import__",
        "__globals__",
        "__builtins__",
        "__subclasses__",
        "__mro__",
        "__bases__",
        "__base__",
        "__code__",
        "__loader__",
        "__getattribute__",
        "__self__",
        "__closure__",
    ];
    NAMES.iter().any(|name| text.contains(name))
}

/// The encoding that a comment names.
fn cookie(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix('#')?;
    let rest = &comment[comment.find("coding")? + "coding".len()..];
    let rest = rest.strip_prefix([':', '='])?.trim_start();
    let end = rest
        .find(|char: char| !char.is_ascii_alphanumeric() && !"-_.".contains(char))
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// Encodings in which every character stands for itself.
fn is_ordinary_encoding(name: &str) -> bool {
    let name = name.to_lowercase().replace('_', "-");
    let known = [
        "utf8",
        "utf-8",
        "utf-8-sig",
        "ascii",
        "us-ascii",
        "latin1",
        "latin-1",
        "utf-16",
        "utf-32",
    ];
    known.contains(&name.as_str())
        || [
            "utf-16-",
            "utf-32-",
            "iso-8859",
            "cp125",
            "windows-125",
            "latin-",
        ]
        .iter()
        .any(|start| name.starts_with(start))
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

/// Whether a text is long and only has the characters of an encoding.
fn is_packed(text: &str) -> bool {
    text.len() >= 160
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "+/=_-\n".contains(char))
        && text.chars().any(|char| char.is_ascii_digit())
}
