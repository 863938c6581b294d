//! The Python packages that run in the script's own interpreter: the tracer, and the zygote with
//! its confinement. They are part of the program and are written once into a session's folder,
//! where every run can read them and none can change them. Called by the runner.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

macro_rules! packages {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("python/", $file)))),*]
    };
}

/// Every file below `python/`, with its text.
const FILES: &[(&str, &str)] = packages![
    "minrepro_confine/__init__.py",
    "minrepro_hidden.py",
    "minrepro_tracer/__init__.py",
    "minrepro_tracer/__main__.py",
    "minrepro_tracer/compiler.py",
    "minrepro_tracer/covered.py",
    "minrepro_tracer/events.py",
    "minrepro_tracer/expressions.py",
    "minrepro_tracer/hang.py",
    "minrepro_tracer/last_lines.py",
    "minrepro_tracer/library_frames.py",
    "minrepro_tracer/reruns.py",
    "minrepro_tracer/run.py",
    "minrepro_tracer/source.py",
    "minrepro_tracer/tensor.py",
    "minrepro_tracer/tracer.py",
    "minrepro_tracer/writer.py",
    "minrepro_zygote/__init__.py",
    "minrepro_zygote/child.py",
    "minrepro_zygote/environment.py",
    "minrepro_zygote/followed.py",
    "minrepro_zygote/imports.py",
    "minrepro_zygote/leaving.py",
    "minrepro_zygote/memory.py",
    "minrepro_zygote/record.py",
    "minrepro_zygote/script_path.py",
    "minrepro_zygote/serve.py",
    "minrepro_zygote/shelf.py",
    "minrepro_zygote/side_effects.py",
    "minrepro_zygote/warm_up.py",
    "sitecustomize.py",
];

/// The folder of the packages below a session's root.
pub(super) fn folder(session: &Path) -> PathBuf {
    session.join("python")
}

/// The program that runs a script and records what it does.
pub(super) fn tracer(session: &Path) -> PathBuf {
    folder(session).join("minrepro_tracer/__main__.py")
}

/// Writes the packages below a session's root.
pub(super) fn unpack(session: &Path) -> io::Result<()> {
    for (file, text) in FILES {
        let path = folder(session).join(file);
        fs::create_dir_all(path.parent().unwrap_or(session))?;
        // Never over a file that is there: the folder is new, and nobody else's.
        fs::File::create_new(path)?.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("__pycache__") => {}
                true => below(&path, found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn every_file_of_the_packages_is_unpacked() {
        let session = tempfile::tempdir().unwrap();
        unpack(session.path()).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/runner/python");
        let mut found = Vec::new();
        below(&source, &mut found);
        found.sort();
        assert_eq!(found.len(), FILES.len());
        for path in found {
            let file = path.strip_prefix(&source).unwrap();
            let unpacked = fs::read(folder(session.path()).join(file)).unwrap();
            assert_eq!(unpacked, fs::read(&path).unwrap(), "{}", file.display());
        }
    }
}
