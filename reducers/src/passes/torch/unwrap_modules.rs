use crate::{
    analysis::{calls::call_of, statements::Statements},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::unwrap_block,
        without_self::{beginning, first_parameter, without_self},
    },
    syntax::{
        Program, Tree,
        ast::{Stmt, StmtClassDef, StmtFunctionDef},
        scope::{ScopeKind, Use},
    },
    torch::names::Torch,
};

pass! {
    /// Replaces a PyTorch module that has a single instance with a function, its `forward`, and
    /// global variables.
    ///
    /// ```python before
    /// import torch
    /// class Model(torch.nn.Module):
    ///     def __init__(self):
    ///         super().__init__()
    ///         self.linear = torch.nn.Linear(2, 2)
    ///     def forward(self, x):
    ///         return self.linear(x)
    /// model = torch.compile(Model())
    /// ```
    /// ```python after
    /// import torch
    /// linear = torch.nn.Linear(2, 2)
    /// def forward(x):
    ///     return linear(x)
    /// model = torch.compile(forward)
    /// ```
    pub(crate) static UNWRAP_MODULES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let variables = &cx.program.scopes().variables;
    let is_free = !variables
        .iter()
        .any(|variable| variable.scope == ScopeKind::Module && variable.name == "forward");
    for variable in variables
        .iter()
        .rev()
        .filter(|variable| is_free && variable.scope == ScopeKind::Module)
    {
        let [only] = variable.uses.as_slice() else {
            continue;
        };
        let class = variable.only_class(tree);
        if let Some(edits) = class.and_then(|class| flat(cx.program, tree, &torch, class, only))
            && cx.scales.gains(&edits)
        {
            out.propose(edits, Prior::Even, format!("module `{}`", variable.name));
        }
        out.next_group();
    }
}

/// The edits that remove a class whose one use is `only`.
fn flat(
    program: &Program,
    tree: &Tree<'_>,
    torch: &Torch<'_>,
    class: &StmtClassDef,
    only: &Use,
) -> Option<EditSet> {
    let is_module = match class.bases() {
        [base] => torch.path(base).as_deref() == Some("torch.nn.Module"),
        _ => false,
    };
    let is_alone = class.decorator_list.is_empty() && class.keywords().is_empty();
    if !is_module || !is_alone || class.range.contains_range(only.range) {
        return None;
    }
    let call = call_of(tree, only.range).filter(|call| call.arguments.is_empty())?;
    let mut edits = unwrap_block(program, class.range, &class.body)?;
    edits.edit(Edit::replace(call.range, "forward"));
    let mut has_forward = false;
    for stmt in &class.body {
        let Stmt::FunctionDef(def) = stmt else {
            continue;
        };
        let own = def.parameters.iter_non_variadic_params().next()?.name();
        let is_init = def.name.as_str() == "__init__";
        has_forward |= def.name.as_str() == "forward";
        let (changes, assigned) = without_self(tree, def, own.as_str(), is_init)?;
        if !assigned.is_empty() {
            return None;
        }
        for change in changes {
            edits.edit(change);
        }
        if is_init {
            if def.parameters.len() != 1 {
                return None;
            }
            let lines = beginning(program, tree, def, own.as_str(), Vec::new())?;
            edits.extend(&made(program, def, &lines)?);
        } else {
            edits.edit(Edit::delete(first_parameter(program, def)?));
        }
    }
    has_forward.then_some(edits)
}

/// The lines of `__init__` in its place.
fn made(program: &Program, def: &StmtFunctionDef, lines: &[String]) -> Option<EditSet> {
    if lines.is_empty() {
        let place = Statements::of(program).place(def.range)?;
        return Some(EditSet::removal(place));
    }
    Some(EditSet::one(Edit::replace(
        def.range,
        lines.join(program.newline()),
    )))
}

#[cfg(test)]
mod tests {
    use super::UNWRAP_MODULES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn other_methods_become_functions() {
        check_edits(
            &UNWRAP_MODULES,
            "from torch.nn import Module as M\ndef main():\n    A()(1)\nclass A(M):\n    size = 3\n    def part(self, x):\n        return x + self.size\n    def forward(self, x):\n        return self.part(x)\nmain()\n",
            &[
                "from torch.nn import Module as M\ndef main():\n    forward(1)\nsize = 3\ndef part(x):\n    return x + size\ndef forward(x):\n    return part(x)\nmain()\n",
            ],
        );
    }

    #[test]
    fn needed_instances_stay() {
        let class = "import torch\nclass A(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
        check_none(&UNWRAP_MODULES, &format!("{class}f(A(), A())\n"));
        check_none(&UNWRAP_MODULES, &format!("{class}f(A)\n"));
        check_none(&UNWRAP_MODULES, &format!("{class}f(A(1))\n"));
        check_none(
            &UNWRAP_MODULES,
            &format!("{class}def forward(): pass\nf(A())\n"),
        );
        check_none(
            &UNWRAP_MODULES,
            &format!("{class}        self.x = x\nf(A())\n").replace("return x\n", "pass\n"),
        );
        check_none(
            &UNWRAP_MODULES,
            "class A(B):\n    def forward(self, x):\n        return x\nf(A())\n",
        );
    }
}
