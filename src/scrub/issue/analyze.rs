//! The requirements of a repro before it can run (packages, data, one process instead of many), and
//! changes that turn its bug into a failure. Pure.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::names::{ImportedNames, imported_modules},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{self, Expr, Stmt},
    },
};

use crate::scrub::python;

/// The packages that a program imports, by the first parts of their names. Relative imports are
/// left out.
pub fn packages(program: &Program) -> BTreeSet<String> {
    let roots = imported_modules(program);
    roots
        .iter()
        .filter(|module| !module.starts_with('.'))
        .filter_map(|module| module.split('.').next())
        .map(str::to_owned)
        .collect()
}

/// Endings of files that hold data.
const ENDINGS: &[&str] = &[
    ".pt",
    ".pth",
    ".pkl",
    ".pickle",
    ".npz",
    ".npy",
    ".safetensors",
    ".onnx",
    ".bin",
    ".zip",
    ".tar",
    ".gz",
    ".csv",
    ".tsv",
    ".parquet",
    ".json",
    ".jsonl",
    ".yaml",
    ".yml",
    ".txt",
    ".png",
    ".jpg",
    ".jpeg",
    ".wav",
    ".mp3",
    ".mp4",
    ".h5",
    ".ckpt",
];

/// Files and models that a program reads and does not create itself.
pub fn external_data(program: &Program) -> Vec<String> {
    let (mut read, mut made) = (Vec::new(), BTreeSet::new());
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let name = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => continue,
        };
        let texts = call
            .arguments
            .args
            .iter()
            .filter_map(literal)
            .map(str::to_owned)
            .collect::<Vec<_>>();
        match name {
            "from_pretrained" | "load_dataset" => read.extend(texts.first().cloned()),
            "open"
                if texts
                    .get(1)
                    .is_some_and(|mode| mode.contains(['w', 'a', 'x'])) =>
            {
                made.extend(texts.first().cloned());
            }
            name if name.starts_with("save")
                || name.starts_with("dump")
                || name.starts_with("to_")
                || name.starts_with("write") =>
            {
                made.extend(texts);
            }
            name if name == "open"
                || name.contains("load")
                || name.starts_with("read")
                || name.starts_with("imread") =>
            {
                read.extend(
                    texts
                        .into_iter()
                        .filter(|text| ENDINGS.iter().any(|end| text.ends_with(end))),
                );
            }
            _ => {}
        }
    }
    read.retain(|path| !made.contains(path));
    read.dedup();
    read
}

pub(super) fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str()),
        _ => None,
    }
}

/// The variables that let a script of `torch.distributed` run as one process; none if it does not
/// use it.
pub fn rendezvous(program: &Program) -> Option<Vec<(String, String)>> {
    let starts = |node: AnyNodeRef<'_>| match node {
        AnyNodeRef::ExprAttribute(attribute) => {
            matches!(
                attribute.attr.as_str(),
                "init_process_group" | "init_device_mesh" | "init_rpc"
            )
        }
        AnyNodeRef::ExprName(name) => {
            matches!(name.id.as_str(), "init_process_group" | "init_device_mesh")
        }
        _ => false,
    };
    let is_distributed = program.tree().nodes.iter().any(|node| starts(node.node));
    let set: BTreeSet<String> = set_variables(program);
    is_distributed.then(|| {
        [
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", "0"),
            ("RANK", "0"),
            ("LOCAL_RANK", "0"),
            ("WORLD_SIZE", "1"),
            ("LOCAL_WORLD_SIZE", "1"),
            ("GLOO_SOCKET_IFNAME", "lo"),
        ]
        .into_iter()
        .filter(|(name, _)| !set.contains(*name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
    })
}

/// The environment variables that a program sets itself.
fn set_variables(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    let mut found = BTreeSet::new();
    for node in &tree.nodes {
        if let AnyNodeRef::StmtAssign(assign) = node.node {
            for target in &assign.targets {
                if let Expr::Subscript(subscript) = target
                    && names.is_environ(&subscript.value)
                    && let Some(name) = literal(&subscript.slice)
                {
                    found.insert(name.to_owned());
                }
            }
        }
    }
    found
}

/// A program that only defines tests, with calls of them; `None` if it does something by itself.
pub fn with_tests_called(program: &Program) -> Option<String> {
    if python::does_something(program) {
        return None;
    }
    let calls: String = program
        .body()
        .iter()
        .filter(|stmt| python::is_test(stmt))
        .filter_map(|stmt| match stmt {
            Stmt::FunctionDef(def) => Some(format!("{}()\n", def.name)),
            _ => None,
        })
        .collect();
    (!calls.is_empty()).then(|| format!("{}\n\n{calls}", program.text().trim_end()))
}

/// The program with `torch._dynamo.reset()` before each top-level statement that compiles, except
/// the first; `None` if fewer than two compile.
pub fn with_resets(program: &Program) -> Option<String> {
    if !python::bound(program).contains("torch") {
        return None;
    }
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    let compiles = |stmt: &&Stmt| {
        !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_))
            && tree.nodes.iter().any(|node| {
                let AnyNodeRef::ExprCall(call) = node.node else {
                    return false;
                };
                stmt.range().contains_range(call.range())
                    && matches!(
                        names.path(&call.func).as_deref(),
                        Some("torch.compile" | "torch._dynamo.optimize")
                    )
            })
    };
    let later = program.body().iter().filter(compiles).skip(1);
    let reset = "torch._dynamo.reset()\n";
    inserted(program, later.map(|stmt| (stmt.start(), reset.to_owned())))
}

/// The program with an assertion after each `print` of a comparison, which the issue expects to be
/// true; `None` if it prints no comparison.
pub fn with_assertions(program: &Program) -> Option<String> {
    let mut additions = Vec::new();
    for node in &program.tree().nodes {
        let AnyNodeRef::StmtExpr(stmt) = node.node else {
            continue;
        };
        let Expr::Call(call) = &*stmt.value else {
            continue;
        };
        if !matches!(&*call.func, Expr::Name(name) if name.id == "print") {
            continue;
        }
        let Some(compared) = call
            .arguments
            .args
            .iter()
            .rev()
            .find(|argument| is_comparison(argument))
        else {
            continue;
        };
        let text = program.text();
        let (begin, end): (usize, usize) = (stmt.start().into(), stmt.end().into());
        let Some((behind, _)) = text[end..].split_once('\n') else {
            continue;
        };
        let line_start = text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let margin = &text[line_start..begin];
        let rest = behind.trim_start();
        // The assertion cannot follow if another statement stands on the line.
        if margin.trim().is_empty() && (rest.is_empty() || rest.starts_with('#')) {
            let compared = text[compared.range()].replace('\n', " ");
            let next_line = TextSize::new((end + behind.len() + 1) as u32);
            additions.push((next_line, format!("{margin}assert {compared}\n")));
        }
    }
    inserted(program, additions)
}

/// `allclose(...)`, `a.equal(b)`, `a == b`.
fn is_comparison(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            let name = match &*call.func {
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                Expr::Name(name) => name.id.as_str(),
                _ => return false,
            };
            matches!(
                name,
                "allclose" | "equal" | "array_equal" | "is_same_size" | "same"
            ) || (name == "all" && call.arguments.args.iter().all(is_comparison))
        }
        Expr::Compare(compare) => compare.ops.iter().all(|op| matches!(op, ast::CmpOp::Eq)),
        _ => false,
    }
}

/// The program with texts inserted at these places; `None` if there are none.
fn inserted(
    program: &Program,
    additions: impl IntoIterator<Item = (TextSize, String)>,
) -> Option<String> {
    let mut edits = EditSet::default();
    for (at, addition) in additions {
        edits.edit(Edit::replace(TextRange::empty(at), addition));
    }
    if edits.is_empty() {
        return None;
    }
    edits.apply(program).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        Program::parse(text).unwrap()
    }

    #[test]
    fn packages_and_data() {
        let text = "import torch.nn as nn, os\nfrom transformers import x\nfrom . import y\n";
        assert_eq!(
            packages(&program(text)).into_iter().collect::<Vec<_>>(),
            ["os", "torch", "transformers"]
        );
        for (text, expected) in [
            ("torch.load('m.pt')\n", vec!["m.pt"]),
            ("torch.save(m, 'm.pt')\ntorch.load('m.pt')\n", vec![]),
            ("M.from_pretrained('bert-base')\n", vec!["bert-base"]),
            ("open('a.txt', 'w')\nopen('a.txt')\n", vec![]),
            ("pd.read_csv('a.csv')\n", vec!["a.csv"]),
            ("torch.load(buffer)\nx.load_state_dict(y)\n", vec![]),
        ] {
            assert_eq!(external_data(&program(text)), expected, "{text}");
        }
    }

    #[test]
    fn distributed_scripts_get_what_they_do_not_set() {
        assert_eq!(rendezvous(&program("import torch\n")), None);
        let found = rendezvous(&program(
            "import os\nos.environ['RANK'] = '0'\ndist.init_process_group('gloo')\n",
        ))
        .unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"WORLD_SIZE") && !names.contains(&"RANK"));
    }

    #[test]
    fn adaptations_keep_the_rest_as_it_is() {
        let text = "import torch\na = torch.compile(f)(x)\nb = torch.compile(g)(x)\n";
        assert_eq!(
            with_resets(&program(text)).unwrap(),
            "import torch\na = torch.compile(f)(x)\ntorch._dynamo.reset()\nb = torch.compile(g)(x)\n"
        );
        assert_eq!(
            with_resets(&program("import torch\ntorch.compile(f)(x)\n")),
            None
        );
        let text = "if x:\n    print('same', torch.allclose(a, b))  # False\n";
        assert_eq!(
            with_assertions(&program(text)).unwrap(),
            "if x:\n    print('same', torch.allclose(a, b))  # False\n    assert torch.allclose(a, b)\n"
        );
        assert_eq!(
            with_assertions(&program("print(a, b)\nprint(a); print(b == c); f()\n")),
            None
        );
        assert_eq!(
            with_tests_called(&program("def test_a():\n    f()\ndef test_b(x): pass\n")).unwrap(),
            "def test_a():\n    f()\ndef test_b(x): pass\n\ntest_a()\n"
        );
        assert_eq!(
            with_tests_called(&program("def test_a(): f()\ntest_a()\n")),
            None
        );
    }
}
