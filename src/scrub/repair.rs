//! Repairs of scripts that fail before they reach their bug, because PyTorch has changed since or a
//! line was not pasted. Each repair in the list is applied only to the error that it fixes, and is
//! reported. Pure.

use minrepro_reducers::{
    analysis::{cpython, names::ImportedNames},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Expr, ExprRef, Stmt},
    },
    torch::{devices::on_cpu, dimensions::whole_numbers},
};

use crate::runner::Exception;

/// A repair.
pub struct Repair {
    /// Its name.
    pub name: &'static str,
    /// Its effect, for people.
    pub what: &'static str,
    fits: fn(&Exception) -> bool,
    apply: fn(&Program, &Exception) -> Option<String>,
}

/// All repairs, in the order in which they are tried.
pub const REPAIRS: &[Repair] = &[
    Repair {
        name: "missing-import",
        what: "imported a well-known name that the script never imports",
        fits: |exception| is(exception, "NameError", &[cpython::NOT_DEFINED]),
        apply: import,
    },
    Repair {
        name: "dynamic-dim",
        what: "replaced `constraints=[dynamic_dim(x, i)]` by `dynamic_shapes=`",
        fits: |exception| {
            is(
                exception,
                "TypeError",
                &["unexpected keyword argument 'constraints'"],
            ) || is(exception, "ImportError", &["dynamic_dim"])
                || is(exception, "AttributeError", &["dynamic_dim"])
        },
        apply: |program, _| constraints(program),
    },
    Repair {
        name: "dynamo-optimize",
        what: "replaced `torch._dynamo.optimize(...)` by `torch.compile(backend=...)`",
        fits: |exception| {
            is(exception, "AttributeError", &["'optimize'"])
                || is(exception, "ImportError", &["'optimize'"])
        },
        apply: |program, _| optimize(program),
    },
    Repair {
        name: "renamed",
        what: "replaced a renamed module or function of PyTorch by its new name",
        fits: |exception| {
            is(exception, "AttributeError", &[cpython::NO_ATTRIBUTE])
                || is(
                    exception,
                    "ImportError",
                    &[cpython::CANNOT_IMPORT, cpython::NO_MODULE],
                )
                || is(exception, "ModuleNotFoundError", &[cpython::NO_MODULE])
        },
        apply: |program, exception| renamed(program, &exception.message),
    },
    Repair {
        name: "no-cuda",
        what: "moved the script to the CPU, since CUDA is not available",
        fits: |exception| {
            [
                "Torch not compiled with CUDA",
                "No CUDA GPUs are available",
                "Found no NVIDIA driver",
                "CUDA driver version is insufficient",
            ]
            .iter()
            .any(|part| exception.message.contains(part))
        },
        apply: |program, _| on_cpu(program),
    },
    Repair {
        name: "smaller-tensors",
        what: "reduced large sizes, since the memory is not sufficient",
        fits: |exception| {
            exception.class.ends_with("OutOfMemoryError")
                || exception.class == "MemoryError"
                || [
                    "out of memory",
                    "not enough memory",
                    "can't allocate memory",
                ]
                .iter()
                .any(|part| exception.message.contains(part))
        },
        apply: |program, _| smaller(program),
    },
];

impl Repair {
    /// The repaired program, if this repair fixes the exception and changes anything.
    pub fn repair(&self, program: &Program, exception: &Exception) -> Option<String> {
        if !(self.fits)(exception) {
            return None;
        }
        let repaired = (self.apply)(program, exception)?;
        (repaired != program.text() && Program::parse(repaired.as_str()).is_ok())
            .then_some(repaired)
    }
}

fn is(exception: &Exception, class: &str, parts: &[&str]) -> bool {
    // An exception that dynamo wraps is repaired as if it were not wrapped.
    let all = exception.chain.iter().chain([exception]);
    all.into_iter().any(|link| {
        (link.short_class() == class || link.message.contains(class))
            && parts.iter().any(|part| link.message.contains(part))
    })
}

/// The text with edits applied; `None` if there are none.
fn edited(program: &Program, edits: impl IntoIterator<Item = Edit>) -> Option<String> {
    let mut set = EditSet::default();
    for edit in edits {
        set.edit(edit);
    }
    if set.is_empty() {
        return None;
    }
    set.apply(program).ok()
}

fn insert(at: TextSize, text: String) -> Edit {
    Edit::replace(TextRange::empty(at), text)
}

/// Adds a well-known import before the first statement that is neither a docstring nor an import
/// from `__future__`.
fn import(program: &Program, exception: &Exception) -> Option<String> {
    let name = exception.message.split('\'').nth(1)?;
    let line = match name {
        "torch" | "os" | "sys" | "math" | "random" | "time" | "copy" | "functools"
        | "itertools" | "torchvision" | "numpy" | "warnings" | "logging" => {
            format!("import {name}")
        }
        "nn" => "import torch.nn as nn".to_owned(),
        "F" => "import torch.nn.functional as F".to_owned(),
        "np" => "import numpy as np".to_owned(),
        "optim" => "import torch.optim as optim".to_owned(),
        "dist" => "import torch.distributed as dist".to_owned(),
        "Tensor" => "from torch import Tensor".to_owned(),
        "DataLoader" | "Dataset" | "TensorDataset" => {
            format!("from torch.utils.data import {name}")
        }
        "partial" => "from functools import partial".to_owned(),
        "List" | "Dict" | "Optional" | "Tuple" | "Any" | "Callable" | "Union" => {
            format!("from typing import {name}")
        }
        "dataclass" => "from dataclasses import dataclass".to_owned(),
        "make_fx" => "from torch.fx.experimental.proxy_tensor import make_fx".to_owned(),
        _ => return None,
    };
    let first = program.body().iter().find(|stmt| match stmt {
        Stmt::Expr(stmt) => !stmt.value.is_string_literal_expr(),
        Stmt::ImportFrom(import) => import.module.as_deref() != Some("__future__"),
        _ => true,
    })?;
    edited(program, [insert(first.start(), format!("{line}\n"))])
}

/// Old names and new ones; a name stands for everything below it.
const RENAMED: &[(&str, &str)] = &[
    ("torch.distributed._tensor", "torch.distributed.tensor"),
    (
        "torch.distributed._shard.checkpoint",
        "torch.distributed.checkpoint",
    ),
    (
        "torch.distributed._composable.fsdp",
        "torch.distributed.fsdp",
    ),
    (
        "torch.testing.assert_allclose",
        "torch.testing.assert_close",
    ),
    ("torch._dynamo.export", "torch.export.export"),
    (
        "torch.ao.quantization.quantize_pt2e",
        "torchao.quantization.pt2e.quantize_pt2e",
    ),
    (
        "functorch.experimental.control_flow",
        "torch._higher_order_ops",
    ),
    ("functorch.compile", "torch._functorch.aot_autograd"),
    ("functorch", "torch.func"),
    ("torch._six", "collections.abc"),
    ("torch.symeig", "torch.linalg.eigh"),
    ("torch.qr", "torch.linalg.qr"),
    ("torch.solve", "torch.linalg.solve"),
    ("torch.lstsq", "torch.linalg.lstsq"),
    ("torch.eig", "torch.linalg.eig"),
    ("torch.matrix_rank", "torch.linalg.matrix_rank"),
    (
        "torch._export.capture_pre_autograd_graph",
        "torch.export.export_for_training",
    ),
    ("torch.export.export_for_training", "torch.export.export"),
    (
        "torch.nn.utils.weight_norm",
        "torch.nn.utils.parametrizations.weight_norm",
    ),
];

/// Replaces a dotted path where an attribute below a package names it, as in `torch.qr`. The name
/// by which the script imports the package stays.
fn renamed_attribute(
    program: &Program,
    names: &ImportedNames<'_>,
    expr: ExprRef<'_>,
    old: &str,
    new: &str,
) -> Option<Edit> {
    let path = match expr {
        ExprRef::Attribute(attribute) => names.attribute(attribute)?,
        ExprRef::Name(name) => names.name(name.id.as_str())?.to_owned(),
        _ => return None,
    };
    if path != old {
        return None;
    }
    let text = program.slice(expr.range());
    let root = text.split('.').next().unwrap_or(text);
    let package = names.name(root)?;
    if package.contains('.') {
        // Imported as a part of a package: the import itself is edited.
        return None;
    }
    let new = match new.strip_prefix(package) {
        Some(below) if below.starts_with('.') => format!("{root}{below}"),
        _ => new.to_owned(),
    };
    Some(Edit::replace(expr.range(), new))
}

/// Moves `torch.cuda.amp.autocast(...)` and `GradScaler` to `torch.amp`, where they take the device
/// as their first argument.
fn amp(program: &Program) -> Vec<Edit> {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    let mut edits = Vec::new();
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(path) = names.path(&call.func) else {
            continue;
        };
        let Some(name) = path.strip_prefix("torch.cuda.amp.") else {
            continue;
        };
        let function = ExprRef::from(&*call.func);
        let new = format!("torch.amp.{name}");
        let Some(moved) = renamed_attribute(program, &names, function, &path, &new) else {
            continue;
        };
        let comma = if call.arguments.is_empty() { "" } else { ", " };
        let open = call.arguments.range().start() + TextSize::new(1);
        edits.extend([moved, insert(open, format!("\"cuda\"{comma}"))]);
    }
    edits
}

/// Replaces the names that the error mentions by their new names.
fn renamed(program: &Program, message: &str) -> Option<String> {
    if message.contains("amp") {
        return edited(program, amp(program));
    }
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    for (old, new) in RENAMED {
        let last = old.rsplit('.').next().unwrap_or(old);
        if !message.contains(last) {
            continue;
        }
        let start_of_old = |range: TextRange| {
            let end = range.start() + TextSize::of(*old);
            Edit::replace(TextRange::new(range.start(), end), *new)
        };
        let is_old = |module: &str| {
            module
                .strip_prefix(old)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let edits = tree.nodes.iter().filter_map(|node| match node.node {
            AnyNodeRef::Alias(alias) if is_old(alias.name.as_str()) => {
                Some(start_of_old(alias.name.range))
            }
            AnyNodeRef::StmtImportFrom(import) => {
                let module = import.module.as_ref()?;
                is_old(module.as_str()).then(|| start_of_old(module.range))
            }
            _ => renamed_attribute(program, &names, node.node.as_expr_ref()?, old, new),
        });
        // A module that is imported under another name keeps that name further down.
        if let Some(text) = edited(program, edits) {
            return Some(text);
        }
    }
    None
}

/// `torch._dynamo.optimize("eager", nopython=True)` as `torch.compile(backend="eager",
/// fullgraph=True)`.
fn optimize(program: &Program) -> Option<String> {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    let mut edits = Vec::new();
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let path = names.path(&call.func);
        if !matches!(
            path.as_deref(),
            Some("torch._dynamo.optimize" | "torchdynamo.optimize")
        ) {
            continue;
        }
        let mut arguments: Vec<String> = Vec::new();
        if let Some(backend) = call.arguments.args.first() {
            arguments.push(format!("backend={}", program.slice(backend.range())));
        }
        for keyword in &call.arguments.keywords {
            let text = program.slice(keyword.range());
            arguments.push(
                text.strip_prefix("nopython")
                    .map_or_else(|| text.to_owned(), |rest| format!("fullgraph{rest}")),
            );
        }
        edits.push(Edit::replace(
            call.range(),
            format!("torch.compile({})", arguments.join(", ")),
        ));
    }
    edited(program, edits)
}

/// `export(f, (x, y), constraints=[dynamic_dim(x, 0)])` as `dynamic_shapes=({0: Dim("d0")}, None)`.
fn constraints(program: &Program) -> Option<String> {
    let mut edits = Vec::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::ExprCall(call) => {
                let Some(keyword) = call.arguments.find_keyword("constraints") else {
                    continue;
                };
                let Some(Expr::Tuple(inputs)) = call.arguments.args.get(1) else {
                    continue;
                };
                let dims = dims(program, &keyword.value);
                let mut number = 0;
                let shapes: Vec<String> = inputs
                    .elts
                    .iter()
                    .map(|input| {
                        let name = program.slice(input.range());
                        let of: Vec<String> = dims
                            .iter()
                            .filter(|(tensor, _)| tensor == name)
                            .map(|(_, dim)| {
                                number += 1;
                                format!("{dim}: torch.export.Dim(\"d{number}\")")
                            })
                            .collect();
                        if of.is_empty() {
                            "None".to_owned()
                        } else {
                            format!("{{{}}}", of.join(", "))
                        }
                    })
                    .collect();
                edits.push(Edit::replace(
                    keyword.range(),
                    format!("dynamic_shapes=({},)", shapes.join(", ")),
                ));
            }
            AnyNodeRef::StmtImportFrom(import) => {
                let kept: Vec<&str> = import
                    .names
                    .iter()
                    .filter(|alias| alias.name.as_str() != "dynamic_dim")
                    .map(|alias| program.slice(alias.range()))
                    .collect();
                if kept.len() < import.names.len() {
                    let module = import.module.as_ref().map_or("", |module| module.as_str());
                    let text = if kept.is_empty() {
                        "pass".to_owned()
                    } else {
                        format!("from {module} import {}", kept.join(", "))
                    };
                    edits.push(Edit::replace(import.range(), text));
                }
            }
            _ => {}
        }
    }
    edited(program, edits)
}

/// Every `dynamic_dim(NAME, INDEX)` within an expression, or within the value of the variable that
/// it names.
fn dims(program: &Program, expr: &Expr) -> Vec<(String, String)> {
    let place = match expr {
        Expr::Name(name) => program
            .tree()
            .nodes
            .iter()
            .find_map(|node| match node.node {
                AnyNodeRef::StmtAssign(assign)
                    if assign.targets.iter().any(
                        |target| matches!(target, Expr::Name(target) if target.id == name.id),
                    ) =>
                {
                    Some(assign.value.range())
                }
                _ => None,
            }),
        _ => Some(expr.range()),
    };
    let Some(place) = place else {
        return Vec::new();
    };
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    let calls = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprCall(call)
            if place.contains_range(call.range())
                && names
                    .path(&call.func)
                    .is_some_and(|path| path.ends_with(".dynamic_dim")) =>
        {
            let [tensor, dim] = call.arguments.args.get(..2)? else {
                return None;
            };
            Some((
                program.slice(tensor.range()).to_owned(),
                program.slice(dim.range()).to_owned(),
            ))
        }
        _ => None,
    });
    let mut found: Vec<_> = calls.collect();
    found.dedup();
    found
}

/// Divides sizes of at least 512 by eight.
fn smaller(program: &Program) -> Option<String> {
    let large = whole_numbers(program).filter(|(size, _)| *size >= 512);
    let edits = large.map(|(size, place)| Edit::replace(place, (size / 8).to_string()));
    edited(program, edits)
}

/// A text that does not parse, with a closing bracket at the end of the first line where that makes
/// it parse.
pub fn closed(text: &str) -> Option<String> {
    let ends: Vec<usize> = text
        .match_indices('\n')
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for at in ends.into_iter().take(400) {
        if text[..at].trim().is_empty() || text[..at].ends_with('\n') {
            continue;
        }
        for bracket in [")", "]", "}", "))"] {
            let candidate = format!("{}{bracket}{}", &text[..at], &text[at..]);
            if Program::parse(candidate.as_str()).is_ok() {
                return Some(candidate);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, class: &str, message: &str, before: &str, after: &str) {
        let exception = Exception {
            class: class.to_owned(),
            message: message.to_owned(),
            ..Exception::default()
        };
        let program = Program::parse(before).unwrap();
        let (applied, repaired) = REPAIRS
            .iter()
            .find_map(|repair| Some((repair.name, repair.repair(&program, &exception)?)))
            .unwrap();
        assert_eq!((applied, repaired.as_str()), (name, after));
    }

    #[test]
    fn every_repair_fixes_its_error() {
        check(
            "missing-import",
            "NameError",
            "name 'nn' is not defined",
            "\"doc\"\nimport torch\nnn.Linear(1, 1)\n",
            "\"doc\"\nimport torch.nn as nn\nimport torch\nnn.Linear(1, 1)\n",
        );
        check(
            "dynamic-dim",
            "ImportError",
            "cannot import name 'dynamic_dim' from 'torch.export'",
            "from torch.export import export, dynamic_dim\nc = [dynamic_dim(x, 0), dynamic_dim(x, 0) <= 9, dynamic_dim(y, 1)]\nexport(f, (x, z, y), constraints=c)\n",
            "from torch.export import export\nc = [dynamic_dim(x, 0), dynamic_dim(x, 0) <= 9, dynamic_dim(y, 1)]\nexport(f, (x, z, y), dynamic_shapes=({0: torch.export.Dim(\"d1\")}, None, {1: torch.export.Dim(\"d2\")},))\n",
        );
        check(
            "dynamo-optimize",
            "AttributeError",
            "module 'torch._dynamo' has no attribute 'optimize'",
            "import torch._dynamo as dynamo\nf = dynamo.optimize(\"eager\", nopython=True)(f)\n",
            "import torch._dynamo as dynamo\nf = torch.compile(backend=\"eager\", fullgraph=True)(f)\n",
        );
        check(
            "renamed",
            "ModuleNotFoundError",
            "No module named 'torch.distributed._tensor'",
            "from torch.distributed._tensor import Shard\nimport torch.distributed._tensor.api as a\n",
            "from torch.distributed.tensor import Shard\nimport torch.distributed.tensor.api as a\n",
        );
        check(
            "renamed",
            "AttributeError",
            "module 'torch.cuda' has no attribute 'amp'",
            "import torch\nwith torch.cuda.amp.autocast(dtype=d):\n    f()\n",
            "import torch\nwith torch.amp.autocast(\"cuda\", dtype=d):\n    f()\n",
        );
        check(
            "renamed",
            "AttributeError",
            "module 'torch' has no attribute 'symeig'",
            "import torch as t\nt.symeig(x, 'torch.symeig')\n",
            "import torch as t\nt.linalg.eigh(x, 'torch.symeig')\n",
        );
        check(
            "no-cuda",
            "AssertionError",
            "Torch not compiled with CUDA enabled",
            "import torch\nx = f(device='cuda:0').cuda()\n",
            "import torch\nx = f(device='cpu')\n",
        );
        check(
            "smaller-tensors",
            "RuntimeError",
            "[enforce fail] DefaultCPUAllocator: can't allocate memory",
            "torch.ones(65_536, 4)\n",
            "torch.ones(8192, 4)\n",
        );
        assert_eq!(
            closed("import torch\nf(1, (2, 3)\ng()\n").as_deref(),
            Some("import torch\nf(1, (2, 3))\ng()\n")
        );
        assert_eq!(closed("def (:\n"), None);
    }

    #[test]
    fn no_repair_touches_another_error() {
        let program = Program::parse(
            "import torch\ntorch._dynamo.optimize('eager')(f)\nnn.f(constraints=c)\n",
        )
        .unwrap();
        for (class, message) in [
            ("RuntimeError", "shape is invalid"),
            ("NameError", "name 'model' is not defined"),
            ("TypeError", "f() got an unexpected keyword argument 'x'"),
        ] {
            let exception = Exception {
                class: class.to_owned(),
                message: message.to_owned(),
                ..Exception::default()
            };
            assert!(
                REPAIRS
                    .iter()
                    .all(|repair| repair.repair(&program, &exception).is_none()),
                "{class}"
            );
        }
    }
}
