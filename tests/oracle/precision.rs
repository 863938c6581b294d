//! How far numbers are from double precision, by real PyTorch.

use std::{fs, io::Write};

use minrepro_reducers::{
    analysis::dependence_check::ReportSite,
    syntax::Program,
    torch::numeric_divergence::{Measured, Numbers, is_further_off, measured},
};

use crate::support::{command, skip, torch};

/// A model whose last sum loses digits, and an assertion on what it gives.
const SCRIPT: &str = "\
import torch
torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8))
x = torch.rand(3, 4, dtype=torch.float32).to(torch.float32)
y = layer(x) + 1e5 - 1e5
assert torch.allclose(y, x.new_zeros(3, 8), atol=100)
";

#[test]
fn double_precision_is_of_the_same_random_numbers() {
    let Some(python) = torch() else {
        return skip("precision", "no PyTorch");
    };
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::File::create_new(&file)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let output = command(&python).arg(file).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        Numbers::read(&stderr)
    };
    let of = |script: &str| {
        measured(
            &Program::parse(script).unwrap(),
            &ReportSite::Raised(vec![6]),
        )
        .unwrap()
        .text()
    };
    let (plain, wrong) = (
        of(SCRIPT),
        of(&SCRIPT.replace("layer(x)", "layer(x) * 1.1")),
    );
    let exact = of(&SCRIPT.replace("layer(x) + 1e5 - 1e5", "layer(x)"));
    let truth = told("truth.py", &Measured::in_double(&plain));
    let (plain, wrong, exact) = (
        told("plain.py", &plain),
        told("wrong.py", &wrong),
        told("exact.py", &exact),
    );
    assert_eq!(
        is_further_off(&wrong, &plain, &truth),
        Some(true),
        "{truth:?} {plain:?} {wrong:?}"
    );
    assert_eq!(
        is_further_off(&exact, &plain, &truth),
        Some(false),
        "{truth:?} {plain:?} {exact:?}"
    );
    assert_eq!(
        is_further_off(&plain, &exact, &truth),
        Some(true),
        "{truth:?} {plain:?} {exact:?}"
    );
}
