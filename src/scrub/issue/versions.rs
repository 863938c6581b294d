//! Reads the versions that an issue names, from the output of `collect_env` or else from its text.
//! Pure.

use std::time::{Duration, SystemTime};

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::text::pattern;

/// The versions with which a bug was reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// PyTorch: `2.6.0`, `2.7.0.dev20250308+cu126`, `main`.
    pub torch: Option<String>,
    /// Python: `3.11`.
    pub python: Option<String>,
    /// The operating system.
    pub os: Option<String>,
    /// The CUDA that PyTorch was built with.
    pub cuda: Option<String>,
    /// The first graphics card.
    pub gpu: Option<String>,
}

pattern!(
    TORCH,
    r"(?m)^[\s*-]*PyTorch [Vv]ersion(?: \([^)\n]*\))?:\s*(\S+)\s*$"
);
pattern!(
    PACKAGE,
    r"(?m)^\s*\[(?:pip3?|conda)\]\s+(?:py)?torch(?:==|\s+)(\d\S*)"
);
pattern!(
    LOOSE,
    r"(?i)\b(?:py)?torch(?:\.__version__)?(?: version)?\s*(?:is\s*)?(?:==|[:= ]\s*v?)\s*['\x22`]?(\d+\.\d+(?:\.\d+)?(?:\.?(?:dev|a|b|rc|post)\d+)?(?:\+\w+|git\w+)*)"
);
pattern!(
    BRANCH,
    r"(?i)\b(?:pytorch|torch)[\w\s:,(]{0,24}\b(nightly|main|master|trunk)\b|\b(nightly|main|master|trunk)\b (?:build|branch|version)"
);
pattern!(PYTHON, r"(?m)^\s*Python version:\s*(\d+\.\d+)");
pattern!(
    LOOSE_PYTHON,
    r"(?i)\bpython(?: version)?\s*[:=]?\s*v?(3\.\d+)"
);
pattern!(OS, r"(?m)^\s*OS:\s*(\S.*?)\s*$");
pattern!(CUDA, r"(?m)^\s*CUDA used to build PyTorch:\s*(\S+)\s*$");
pattern!(
    GPU,
    r"(?m)^\s*(?:GPU models and configuration:\s*)?(?:GPU 0:|GPU models and configuration:)\s*(\S.*?)\s*$"
);

/// Releases of PyTorch and their days.
const RELEASES: &[(&str, &str)] = &[
    ("1.12", "2022-06-28"),
    ("1.13", "2022-10-28"),
    ("2.0", "2023-03-15"),
    ("2.1", "2023-10-04"),
    ("2.2", "2024-01-30"),
    ("2.3", "2024-04-24"),
    ("2.4", "2024-07-24"),
    ("2.5", "2024-10-17"),
    ("2.6", "2025-01-29"),
    ("2.7", "2025-04-23"),
    ("2.8", "2025-08-06"),
    ("2.9", "2025-10-15"),
    ("2.10", "2026-01-21"),
];
/// A release is branched off so long before its day; later changes of the main branch are not in
/// it.
const BRANCHED_BEFORE: Duration = Duration::from_hours(60 * 24);

/// The time at which a version of PyTorch was branched off, if it is known.
pub fn branched(version: &str) -> Option<SystemTime> {
    let (_, day) = RELEASES.iter().find(|(release, _)| {
        version
            .strip_prefix(release)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })?;
    let released = humantime::parse_rfc3339_weak(&format!("{day} 00:00:00")).ok()?;
    Some(released - BRANCHED_BEFORE)
}

/// All versions of PyTorch that a text names as such.
pub fn all_of_torch(text: &str) -> impl Iterator<Item = String> {
    [&TORCH, &PACKAGE, &LOOSE].into_iter().flat_map(|pattern| {
        let named = pattern.captures_iter(text);
        named.map(|found| found[1].to_owned())
    })
}

/// Reads the versions from a text, usually the whole description.
pub fn versions(text: &str) -> Versions {
    let text = text.replace('\r', "");
    let first = |pattern: &Regex| pattern.captures(&text).map(|found| found[1].to_owned());
    let known = |text: &String| {
        !matches!(
            text.as_str(),
            "N/A" | "None" | "Could" | "Could not collect" | "No CUDA" | "Not"
        )
    };
    let branch = || {
        let found = BRANCH.captures(&text)?;
        Some(
            found
                .get(1)
                .or_else(|| found.get(2))?
                .as_str()
                .to_lowercase(),
        )
    };
    Versions {
        torch: first(&TORCH)
            .filter(known)
            .or_else(|| first(&PACKAGE))
            .or_else(|| first(&LOOSE))
            .or_else(branch),
        python: first(&PYTHON).or_else(|| first(&LOOSE_PYTHON)),
        os: first(&OS).filter(known),
        cuda: first(&CUDA).filter(known),
        gpu: first(&GPU).filter(known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collect_env_is_read_in_full() {
        let text = "Collecting environment information...\r\nPyTorch version: 2.6.0+cu124\nIs debug build: False\nCUDA used to build PyTorch: 12.4\n\nOS: Ubuntu 22.04.5 LTS (x86_64)\n\nPython version: 3.11.9 (main, Apr 2024) [GCC 11.4.0] (64-bit runtime)\nIs CUDA available: True\nGPU models and configuration: \nGPU 0: NVIDIA A100-SXM4-80GB\nGPU 1: NVIDIA A100-SXM4-80GB\n\nVersions of relevant libraries:\n[pip3] torch==2.6.0\n";
        let found = versions(text);
        assert_eq!(found.torch.as_deref(), Some("2.6.0+cu124"));
        assert_eq!(
            (found.python.as_deref(), found.cuda.as_deref()),
            (Some("3.11"), Some("12.4"))
        );
        assert_eq!(found.os.as_deref(), Some("Ubuntu 22.04.5 LTS (x86_64)"));
        assert_eq!(found.gpu.as_deref(), Some("NVIDIA A100-SXM4-80GB"));
    }

    #[test]
    fn releases_are_known_by_their_first_two_numbers() {
        let day = |text: &str| humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).unwrap();
        assert_eq!(branched("2.9.1"), Some(day("2025-08-16")));
        assert!(branched("2.1.0") < branched("2.10.0"));
        assert_eq!(branched("9.9.9"), None);
    }

    #[test]
    fn every_form_of_version_is_read() {
        for (text, expected) in [
            (
                "PyTorch version: 2.7.0.dev20250308+cu126",
                Some("2.7.0.dev20250308+cu126"),
            ),
            (
                "PyTorch version: 2.4.0a0+git20333e3",
                Some("2.4.0a0+git20333e3"),
            ),
            (
                "PyTorch version: N/A\n[pip3] torch==2.1.0+cu121",
                Some("2.1.0+cu121"),
            ),
            ("[conda] pytorch 1.13.1 py3.10", Some("1.13.1")),
            ("torch 2.8", Some("2.8")),
            ("torch==2.0.1", Some("2.0.1")),
            ("torch.__version__ = '2.3.0'", Some("2.3.0")),
            ("I use PyTorch version 2.5.1 on Linux", Some("2.5.1")),
            ("PyTorch nightly", Some("nightly")),
            ("on the main branch", Some("main")),
            ("PyTorch: master", Some("master")),
            ("the domain is remaining", None),
            ("numpy 1.26.0", None),
        ] {
            assert_eq!(versions(text).torch.as_deref(), expected, "{text}");
        }
        let bare = versions(
            "PyTorch version: 2.0\nCUDA used to build PyTorch: None\nOS: Could not collect\nGPU models and configuration: Could not collect\n",
        );
        assert_eq!((bare.cuda, bare.os, bare.gpu), (None, None, None));
        assert_eq!(
            versions("python 3.10, torch 2.8").python.as_deref(),
            Some("3.10")
        );
    }
}
