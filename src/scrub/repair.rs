//! Repairs that are no reductions: what stands between a script and its bug because time went by or
//! a line was not pasted. A listed set; each is applied only to the error that it mends, and each
//! is reported. Pure.

use minrepro_reducers::syntax::{
    AnyNodeRef, Program, Ranged,
    ast::{Expr, Stmt},
};

use crate::runner::Exception;

/// A repair.
pub struct Repair {
    /// Its name.
    pub name: &'static str,
    /// What it does, for people.
    pub what: &'static str,
    fits: fn(&Exception) -> bool,
    apply: fn(&Program, &Exception) -> Option<String>,
}

/// All repairs, in the order in which they are tried.
pub const REPAIRS: &[Repair] = &[
    Repair {
        name: "missing-import",
        what: "a well-known name that is never imported was imported",
        fits: |exception| is(exception, "NameError", &["is not defined"]),
        apply: import,
    },
    Repair {
        name: "dynamic-dim",
        what: "`constraints=[dynamic_dim(x, i)]` was written as `dynamic_shapes=`",
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
        what: "`torch._dynamo.optimize(...)` was written as `torch.compile(backend=...)`",
        fits: |exception| {
            is(exception, "AttributeError", &["'optimize'"])
                || is(exception, "ImportError", &["'optimize'"])
        },
        apply: |program, _| optimize(program),
    },
    Repair {
        name: "renamed",
        what: "a module or function of torch that was renamed was called by its new name",
        fits: |exception| {
            is(exception, "AttributeError", &["has no attribute"])
                || is(
                    exception,
                    "ImportError",
                    &["cannot import name", "No module named"],
                )
                || is(exception, "ModuleNotFoundError", &["No module named"])
        },
        apply: |program, exception| renamed(program, &exception.message),
    },
    Repair {
        name: "no-cuda",
        what: "the device `cuda` was written as `cpu`, since here is no CUDA",
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
        what: "large sizes were made smaller, since the memory does not suffice",
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
    /// The program mended, if this repair is for the exception and changes anything.
    pub fn mend(&self, program: &Program, exception: &Exception) -> Option<String> {
        if !(self.fits)(exception) {
            return None;
        }
        let mended = (self.apply)(program, exception)?;
        (mended != program.text() && Program::parse(mended.as_str()).is_ok()).then_some(mended)
    }
}

fn is(exception: &Exception, class: &str, parts: &[&str]) -> bool {
    // What dynamo wraps is mended like what it wraps.
    let all = exception.chain.iter().chain([exception]);
    all.into_iter().any(|link| {
        (link.short_class() == class || link.message.contains(class))
            && parts.iter().any(|part| link.message.contains(part))
    })
}

/// Text with pieces replaced, which come in any order and do not overlap.
fn replaced(text: &str, mut edits: Vec<(std::ops::Range<usize>, String)>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| range.start);
    let (mut result, mut at) = (String::new(), 0);
    for (range, new) in edits {
        if range.start < at {
            continue;
        }
        result.push_str(&text[at..range.start]);
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(&text[at..]);
    Some(result)
}

fn range(node: impl Ranged) -> std::ops::Range<usize> {
    node.range().into()
}

/// A well-known import before the first statement that is no docstring and no `__future__`.
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
    let at: usize = first.start().into();
    replaced(program.text(), vec![(at..at, format!("{line}\n"))])
}

/// Old names and their new ones; a name counts with all that follows it.
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

/// `torch.cuda.amp.autocast(...)` and `GradScaler` take the device as their first argument where
/// they are now.
fn amp(program: &Program) -> Vec<(std::ops::Range<usize>, String)> {
    let mut edits = Vec::new();
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(name) = program
            .slice(call.func.range())
            .strip_prefix("torch.cuda.amp.")
        else {
            continue;
        };
        let open: usize = call.arguments.range().start().into();
        let comma = if call.arguments.is_empty() { "" } else { ", " };
        edits.push((range(&*call.func), format!("torch.amp.{name}")));
        edits.push((open + 1..open + 1, format!("\"cuda\"{comma}")));
    }
    edits
}

/// The names that the error speaks of, by their new names.
fn renamed(program: &Program, message: &str) -> Option<String> {
    if message.contains("amp") {
        return replaced(program.text(), amp(program));
    }
    for (old, new) in RENAMED {
        let last = old.rsplit('.').next().unwrap_or(old);
        if !message.contains(last) {
            continue;
        }
        let mut edits = Vec::new();
        for node in &program.tree().nodes {
            match node.node {
                AnyNodeRef::Alias(_) | AnyNodeRef::ExprAttribute(_) | AnyNodeRef::ExprName(_) => {
                    let at = range(node.node);
                    let text = &program.text()[at.clone()];
                    if text == *old
                        || text
                            .strip_prefix(old)
                            .is_some_and(|rest| rest.starts_with('.') || rest.starts_with(' '))
                    {
                        edits.push((at.start..at.start + old.len(), (*new).to_owned()));
                    }
                }
                AnyNodeRef::StmtImportFrom(import) => {
                    let Some(module) = &import.module else {
                        continue;
                    };
                    let is_it = module.as_str() == *old
                        || module
                            .as_str()
                            .strip_prefix(old)
                            .is_some_and(|rest| rest.starts_with('.'));
                    if is_it {
                        let at = range(module);
                        edits.push((at.start..at.start + old.len(), (*new).to_owned()));
                    }
                }
                _ => {}
            }
        }
        // A module alone is used under its own name further down; the parts that are edited do not
        // overlap.
        if let Some(text) = replaced(program.text(), edits) {
            return Some(text);
        }
    }
    None
}

/// `torch._dynamo.optimize("eager", nopython=True)` as `torch.compile(backend="eager",
/// fullgraph=True)`.
fn optimize(program: &Program) -> Option<String> {
    let mut edits = Vec::new();
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let function = program.slice(call.func.range());
        if !matches!(
            function,
            "torch._dynamo.optimize"
                | "dynamo.optimize"
                | "_dynamo.optimize"
                | "torchdynamo.optimize"
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
        edits.push((
            range(call),
            format!("torch.compile({})", arguments.join(", ")),
        ));
    }
    replaced(program.text(), edits)
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
                edits.push((
                    range(keyword),
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
                    edits.push((range(import), text));
                }
            }
            _ => {}
        }
    }
    replaced(program.text(), edits)
}

/// Every `dynamic_dim(NAME, INDEX)` within an expression, or within what a name in it is bound to.
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
    let calls = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprCall(call)
            if place.contains_range(call.range())
                && program.slice(call.func.range()).ends_with("dynamic_dim") =>
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

/// `"cuda"` as `"cpu"`, `.cuda()` as `.cpu()`.
fn on_cpu(program: &Program) -> Option<String> {
    let mut edits = Vec::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::StringLiteral(text) if text.value.split(':').next() == Some("cuda") => {
                edits.push((range(text), "\"cpu\"".to_owned()));
            }
            AnyNodeRef::ExprCall(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && method.attr.as_str() == "cuda"
                {
                    let from: usize = method.attr.range().start().into();
                    edits.push((from..range(call).end, "cpu()".to_owned()));
                } else if program.slice(call.func.range()) == "torch.cuda.synchronize" {
                    edits.push((range(call), "None".to_owned()));
                }
            }
            _ => {}
        }
    }
    replaced(program.text(), edits)
}

/// Sizes from 512 on, divided by eight.
fn smaller(program: &Program) -> Option<String> {
    let edits = program
        .tree()
        .nodes
        .iter()
        .filter_map(|node| {
            let AnyNodeRef::ExprNumberLiteral(number) = node.node else {
                return None;
            };
            let value: u64 = program
                .slice(number.range())
                .replace('_', "")
                .parse()
                .ok()?;
            (value >= 512).then(|| (range(number), (value / 8).to_string()))
        })
        .collect();
    replaced(program.text(), edits)
}

/// A text that does not parse with a closing bracket at the end of the first line that lets it
/// parse.
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
        let (applied, mended) = REPAIRS
            .iter()
            .find_map(|repair| Some((repair.name, repair.mend(&program, &exception)?)))
            .unwrap();
        assert_eq!((applied, mended.as_str()), (name, after));
    }

    #[test]
    fn every_repair_mends_its_error() {
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
            "f = torch._dynamo.optimize(\"eager\", nopython=True)(f)\n",
            "f = torch.compile(backend=\"eager\", fullgraph=True)(f)\n",
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
            "with torch.cuda.amp.autocast(dtype=d):\n    f()\n",
            "with torch.amp.autocast(\"cuda\", dtype=d):\n    f()\n",
        );
        check(
            "renamed",
            "AttributeError",
            "module 'torch' has no attribute 'symeig'",
            "torch.symeig(x)\n",
            "torch.linalg.eigh(x)\n",
        );
        check(
            "no-cuda",
            "AssertionError",
            "Torch not compiled with CUDA enabled",
            "x = f(device='cuda:0').cuda()\n",
            "x = f(device=\"cpu\").cpu()\n",
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
                    .all(|repair| repair.mend(&program, &exception).is_none()),
                "{class}"
            );
        }
    }
}
