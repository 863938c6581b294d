//! The versions and devices of an interpreter, to which the outcome of a run applies. A program of
//! our own asks the interpreter; reading its answer is pure.

use serde::Serialize;

/// The question, as a program.
pub(super) const QUESTION: &str = "import importlib.util, platform
print('python', platform.python_version())
if importlib.util.find_spec('torch'):
    print('torch cannot be imported')
    import torch
    print('torch', torch.__version__)
    print('gpus', torch.cuda.device_count() if torch.cuda.is_available() else 0)
";

/// Versions and devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Installed {
    /// The version of Python: `3.11.9`.
    pub(super) python: String,
    /// The version of PyTorch without its build, if it is installed.
    pub(super) torch: Option<String>,
    /// GPUs that PyTorch can use through CUDA.
    pub(super) gpus: u32,
}

impl Installed {
    /// Reads the answer.
    pub(super) fn parse(answer: &str) -> Self {
        let values = |name: &str| {
            let lines = answer.lines().rev();
            lines
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
                .map(str::trim)
                .next()
        };
        let plain = |version: &str| version.split('+').next().unwrap_or(version).to_owned();
        Self {
            python: values("python").unwrap_or_default().to_owned(),
            torch: values("torch").map(plain),
            gpus: values("gpus")
                .and_then(|count| count.parse().ok())
                .unwrap_or(0),
        }
    }

    /// The subject of the test: `PyTorch 2.9.1`, or `Python 3.12.1` without PyTorch.
    pub(super) fn subject(&self) -> String {
        match &self.torch {
            Some(version) if version.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("PyTorch {version}")
            }
            Some(_) => "a PyTorch that cannot be imported".to_owned(),
            None if self.python.is_empty() => "an unknown Python".to_owned(),
            None => format!("Python {}", self.python),
        }
    }

    /// The first two numbers of Python's version.
    pub(super) fn python_minor(&self) -> Option<(u32, u32)> {
        minor(&self.python)
    }

    /// The device that runs use.
    pub(super) fn device(&self) -> &'static str {
        if self.gpus > 0 { "CPU and CUDA" } else { "CPU" }
    }
}

/// The first two numbers of a version.
pub(super) fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_without_builds() {
        let found = Installed::parse(
            "noise\npython 3.11.9\ntorch cannot be imported\ntorch 2.9.1+cu128\ngpus 1\n",
        );
        assert_eq!(found.subject(), "PyTorch 2.9.1");
        assert_eq!((found.gpus, found.python_minor()), (1, Some((3, 11))));
        assert_eq!(
            Installed::parse("python 3.12.1\n").subject(),
            "Python 3.12.1"
        );
        assert_eq!(
            Installed::parse("python 3.12.1\ntorch cannot be imported\n").subject(),
            "a PyTorch that cannot be imported"
        );
    }
}
