//! `minrepro triage` by the real binary, on issues that are made here: which labels, and which
//! never.

use std::fs;

use crate::support::{command, newest, skip};

/// The labels that triage would add to an issue, and its whole report.
fn triaged(title: &str, body: &str, has: &[&str]) -> (Vec<String>, serde_json::Value) {
    let place = tempfile::tempdir().unwrap();
    let labels: Vec<_> = has
        .iter()
        .map(|name| serde_json::json!({ "name": name }))
        .collect();
    let issue = serde_json::json!({
        "number": 7, "node_id": "N", "title": title, "body": body, "state": "open",
        "user": { "login": "somebody" }, "labels": labels,
        "created_at": "2026-11-01T00:00:00Z", "updated_at": "2026-11-01T00:00:00Z",
    });
    let mut file = fs::File::create(place.path().join("issue.json")).unwrap();
    std::io::Write::write_all(&mut file, issue.to_string().as_bytes()).unwrap();
    let output = command(env!("CARGO_BIN_EXE_minrepro"))
        .args(["triage", "--from", "issue.json", "--json"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let writes = report["plan"].as_array().unwrap().iter();
    let added = writes
        .filter_map(|write| write["labels"]["add"].as_array())
        .flatten();
    (
        added
            .map(|label| label.as_str().unwrap().to_owned())
            .collect(),
        report,
    )
}

#[track_caller]
fn check(title: &str, body: &str, has: &[&str], expected: &[&str]) {
    let (mut found, report) = triaged(title, body, has);
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "{report:#}");
    // Each label comes with a line that speaks for it.
    for label in report["labels"].as_array().unwrap() {
        assert!(!label["by"].as_str().unwrap().is_empty(), "{label}");
    }
}

const DISTRIBUTED: &[&str] = &["oncall: distributed"];

#[test]
fn distributed_issues_get_one_group_and_their_modules() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let fsdp = include_str!("triage/fsdp.md");
    check(
        "Wrong padding",
        fsdp,
        DISTRIBUTED,
        &[
            "oncall: distributed parallelisms",
            "module: fsdp",
            "ptd-bot-triaged",
        ],
    );
    // The watchdog of NCCL that stops a training run is no bug of what is trained.
    check(
        "Training stops after some hours",
        include_str!("triage/watchdog.md"),
        DISTRIBUTED,
        &["oncall: distributed infra", "ptd-bot-triaged"],
    );
    check(
        "dcp.load fails for FSDP2 models",
        include_str!("triage/dcp.md"),
        DISTRIBUTED,
        &["oncall: distributed checkpointing", "ptd-bot-triaged"],
    );
    // What a person has chosen stays, and nothing is added to what is classified.
    check(
        "DDP hangs",
        fsdp,
        &[
            "oncall: distributed",
            "oncall: distributed infra",
            "module: ddp",
        ],
        &["ptd-bot-triaged"],
    );
}

#[test]
fn what_is_not_sure_is_left_to_people() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let (found, report) = triaged(
        "import torch fails",
        include_str!("triage/symbol.md"),
        DISTRIBUTED,
    );
    assert_eq!(found, ["triage review", "ptd-bot-triaged"], "{report:#}");
    let comment = report["comment"].as_str().unwrap();
    assert!(
        comment.contains("does not seem to involve") && !comment.contains("{why}"),
        "{comment}"
    );
    check(
        "It does not work",
        "Please help.",
        DISTRIBUTED,
        &["triage review", "ptd-bot-triaged"],
    );
    // A person decides what is urgent.
    let (found, report) = triaged(
        "[FSDP] silently wrong gradients since the upgrade",
        include_str!("triage/wrong.md"),
        DISTRIBUTED,
    );
    assert!(found.contains(&"triage review".to_owned()), "{report:#}");
    assert!(!found.contains(&"ptd-bot-triaged".to_owned()), "{report:#}");
    assert!(!report["flags"].as_array().unwrap().is_empty());
    // Neither code nor an error.
    let (found, report) = triaged(
        "DDP is strange with find_unused_parameters",
        "See the title.",
        DISTRIBUTED,
    );
    assert!(
        found.contains(&"needs reproduction".to_owned()),
        "{report:#}"
    );
    assert!(
        report["comment"]
            .as_str()
            .unwrap()
            .contains("logs of all ranks")
    );
    // Nothing is said of other queues, closed or not.
    check("Crash in convolution", "no", &["module: nn"], &[]);
}

#[test]
fn compiler_issues_get_their_components_and_nothing_forbidden_is_written() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    check(
        "Compiled model fails",
        include_str!("triage/lowering.md"),
        &["oncall: pt2"],
        &["module: inductor"],
    );
    check(
        "torch.export: constraints violated",
        "```\ntorch._dynamo.exc.UserError: Constraints violated (batch)!\n```\n",
        &["oncall: pt2"],
        &["oncall: export", "module: dynamic shapes"],
    );
    let everything = "high priority ciflow/trunk release notes: distributed merge blocking \
                      FSDP DDP NCCL error segfault \
                      regression dynamo inductor export vmap";
    for has in [
        &["oncall: distributed", "oncall: pt2"][..],
        &["oncall: pt2"],
        DISTRIBUTED,
    ] {
        let (found, report) = triaged(everything, everything, has);
        for label in &found {
            let is_forbidden = [
                "high priority",
                "oncall: distributed",
                "bot-triaged",
                "merge blocking",
            ]
            .contains(&label.as_str())
                || label.starts_with("ciflow")
                || label.starts_with("release notes");
            assert!(!is_forbidden, "{label}: {report:#}");
        }
        let groups = found
            .iter()
            .filter(|label| label.starts_with("oncall: distributed "))
            .count();
        assert!(groups <= 1, "{found:?}");
        let removed = report["plan"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|write| write["labels"]["remove"].as_array());
        assert_eq!(removed.flatten().count(), 0);
    }
}

#[test]
fn programs_are_of_the_module_that_they_use_not_of_their_setup() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let uses = "```python\nimport torch.distributed as dist\n\
                from torch.distributed.device_mesh import init_device_mesh\n\
                from torch.distributed.tensor import Shard, distribute_tensor\n\
                dist.init_process_group('gloo')\n\
                mesh = init_device_mesh('cpu', (2,))\n\
                print(distribute_tensor(t, mesh, [Shard(0)]).sum())\n";
    for body in [
        format!("{uses}```\n"),
        // Code that breaks off counts as far as it parses.
        format!("{uses}for step in range(\n```\n"),
    ] {
        check(
            "The sum differs",
            &body,
            DISTRIBUTED,
            &[
                "oncall: distributed parallelisms",
                "module: dtensor",
                "ptd-bot-triaged",
            ],
        );
    }
    check(
        "A mesh of one device cannot be sliced",
        "```python\nfrom torch.distributed.device_mesh import init_device_mesh\n\
         print(init_device_mesh('cpu', (1,), mesh_dim_names=('a',))['a'])\n```\n",
        DISTRIBUTED,
        &["oncall: distributed infra", "ptd-bot-triaged"],
    );
    let log = "```\nRuntimeError: no\n```\n";
    for (title, expected) in [
        (
            "Distributed DataParallel counts a parameter twice",
            "module: ddp",
        ),
        (
            "DataParallel counts a parameter twice",
            "module: data parallel",
        ),
        ("FSDPState keeps a parameter alive", "module: fsdp"),
    ] {
        check(
            title,
            log,
            DISTRIBUTED,
            &[
                "oncall: distributed parallelisms",
                expected,
                "ptd-bot-triaged",
            ],
        );
    }
    for title in ["ncclUniqueId is too short", "all_gather_object eats memory"] {
        check(
            title,
            log,
            DISTRIBUTED,
            &["oncall: distributed infra", "ptd-bot-triaged"],
        );
    }
}

#[test]
fn the_innermost_frame_names_the_component() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let stack = |frames: &[&str]| format!("```\n{}\nRuntimeError: no\n```\n", frames.join("\n"));
    let python = |path: &str| {
        let code = "    return inductor_or_dynamo(cudagraph)";
        format!("  File \"/l/{path}\", line 3, in f\n{code}")
    };
    let dynamo = python("torch/_dynamo/symbolic_convert.py");
    let called = dynamo.replace("in f", "in call_user_compiler");
    let aot = python("torch/_functorch/_aot_autograd/collect_metadata_analysis.py");
    let lowering = python("torch/_inductor/lowering.py");
    let export = python("torch/export/_trace.py");
    let shapes = python("torch/fx/experimental/symbolic_shapes.py");
    let traceback = "Traceback (most recent call last):";
    let compiled = &["oncall: pt2"];
    for (frames, expected) in [
        (vec![traceback, &dynamo], &["module: dynamo"][..]),
        // All that is compiled passes AOTAutograd.
        (
            vec![traceback, &dynamo, &aot, &lowering],
            &["module: inductor"],
        ),
        (vec![traceback, &dynamo, &aot], &["module: pt2-dispatcher"]),
        // An export is the exporter's, wherever it fails.
        (
            vec![traceback, &export, &shapes],
            &["oncall: export", "module: dynamic shapes"],
        ),
        // Dynamo only passes on the failure of a backend.
        (
            vec![traceback, &lowering, traceback, &called],
            &["module: inductor"],
        ),
        (
            vec![
                traceback,
                "File ~/l/torch/_dynamo/guards.py:3, in f(x)",
                "----> 3 return cudagraph(x)",
            ],
            &["module: dynamo"],
        ),
        (
            vec![
                traceback,
                "  File \"C:\\l\\torch\\_dynamo\\guards.py\", line 3, in f",
            ],
            &["module: dynamo"],
        ),
    ] {
        check("The model fails", &stack(&frames), compiled, expected);
    }
    let ranks: Vec<String> = [traceback, &lowering]
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| format!("[rank0]: {line}"))
        .collect();
    let ranks: Vec<&str> = ranks.iter().map(String::as_str).collect();
    check(
        "The model fails",
        &stack(&ranks),
        compiled,
        &["module: inductor"],
    );
}

#[test]
fn words_name_a_component_only_where_nothing_else_does() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let compiled = &["oncall: pt2"];
    check(
        "[inductor] a kernel reads too far",
        "We looked at export and at dynamic shapes, too.",
        compiled,
        &["module: inductor"],
    );
    let (found, report) = triaged("A kernel reads too far", "It is inductor's.", compiled);
    assert_eq!(found, ["module: inductor"], "{report:#}");
    assert_eq!(report["labels"][0]["confidence"], "low");
    check(
        "It fails",
        "```python\nimport torch\nprint(torch.export.export(m, (x,)))\n```\nIs it dynamo?",
        compiled,
        &["oncall: export"],
    );
    // The last of the backends in a script is the one that fails.
    check(
        "It differs",
        "```python\nimport torch\ntorch.compile(f, backend='eager')(x)\n\
         torch.compile(f, backend='inductor')(x)\n```\n",
        compiled,
        &["module: inductor"],
    );
    check(
        "Inductor fails on CPU",
        "```\nCppCompileError: C++ compile error\n```\n",
        compiled,
        &["oncall: cpu inductor"],
    );
    check(
        "An output of CUDAGraphs is overwritten",
        "no",
        compiled,
        &["module: cuda graphs"],
    );
    check(
        "Flex attention fails for one row",
        "no",
        compiled,
        &["module: flex attention", "module: higher order operators"],
    );
}
