//! The JSON Schemas in `docs/src/schema/` are those of the types, and only grow within a version;
//! `MINREPRO_BLESS=1 cargo test --test all docs::schemas` rewrites them.

use std::fs;

use minrepro::{
    diagnose::{Diagnosis, VERSION as DIAGNOSIS_VERSION},
    report::{EVENTS_VERSION, EventRecord, Report, VERSION, write_atomically},
};
use schemars::{Schema, schema_for};

use super::root;

/// The schemas, each with the name of its file.
fn schemas() -> [(String, Schema); 3] {
    [
        (format!("report-{VERSION}.json"), schema_for!(Report)),
        (
            format!("events-{EVENTS_VERSION}.json"),
            schema_for!(EventRecord),
        ),
        (
            format!("diagnosis-{DIAGNOSIS_VERSION}.json"),
            schema_for!(Diagnosis),
        ),
    ]
}

#[test]
fn schemas_are_those_of_the_types() {
    let bless = std::env::var_os("MINREPRO_BLESS").is_some();
    let folder = root().join("docs/src/schema");
    for (name, schema) in schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = folder.join(&name);
        if bless {
            write_atomically(&path, text.as_bytes()).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "docs/src/schema/{name} differs from the types; MINREPRO_BLESS=1 rewrites it. If a field was \
             removed or changed its meaning, the version has to grow"
        );
    }
}
