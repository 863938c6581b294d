//! The other inputs of a run: the files beside the script that it names, and the files of a test
//! command. A change to one voids earlier verdicts, so their content is part of the journal's name.
//! Runs and writes nothing.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::files::{Links, read_regular};

/// Larger files are compared by size and date.
const READ_WHOLE: u64 = 8 << 20;
/// The most entries of a folder that are looked at.
const ENTRIES: usize = 2_000;

/// A hash of all files beside the script that its text names, of those that these name in turn, and
/// of `programs`. Files in a folder of `path`, from which modules are imported, count as if they
/// were beside the script.
///
/// A name counts wherever it occurs as a word: `helper` for `helper.py` or a folder, `data.json` in
/// full. The files of `except`, which will be written, do not count.
pub(crate) fn fingerprint(
    script: &Path,
    texts: &[&[u8]],
    programs: &[PathBuf],
    path: &[PathBuf],
    except: &[&Path],
) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for program in programs {
        hasher.update(&state(program));
    }
    let mut beside = beside(script, script.parent(), except);
    for folder in path {
        beside.extend(self::beside(script, Some(folder), except));
    }
    // Only these words are looked for: a script may hold a million others.
    let names: HashSet<&str> = beside
        .iter()
        .flat_map(|(_, names)| names.iter().map(String::as_str))
        .collect();
    let mut words = BTreeSet::new();
    for text in texts {
        find_words(text, &names, &mut words);
    }
    for bytes in programs.iter().filter_map(|program| content(program)) {
        find_words_of_text(&bytes, &names, &mut words);
    }
    let mut named: BTreeMap<&Path, Vec<u8>> = BTreeMap::new();
    loop {
        let news: Vec<&PathBuf> = beside
            .iter()
            .filter(|(path, names)| {
                !named.contains_key(path.as_path()) && names.iter().any(|name| words.contains(name))
            })
            .map(|(path, _)| path)
            .collect();
        if news.is_empty() {
            break;
        }
        for path in news {
            if path.extension().is_some_and(|extension| extension == "py") {
                let bytes = content(path).unwrap_or_default();
                find_words_of_text(&bytes, &names, &mut words);
            }
            named.insert(path, state(path));
        }
    }
    for (path, state) in named {
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(&state);
    }
    hasher.finalize()
}

/// The files and folders in a folder but the script, each with the words that name it.
fn beside(script: &Path, folder: Option<&Path>, except: &[&Path]) -> Vec<(PathBuf, Vec<String>)> {
    let Some(folder) = folder else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(ENTRIES)
        .map(|entry| entry.path())
    {
        let Some(name) = path
            .file_name()
            .and_then(|file_name| file_name.to_str())
            .map(str::to_owned)
        else {
            continue;
        };
        if path == script || except.contains(&path.as_path()) || name.starts_with('.') {
            continue;
        }
        let mut names = vec![name.clone()];
        // Modules, also extension modules: `fast.cpython-312-x86_64-linux-gnu.so`.
        if let Some((stem, rest)) = name.split_once('.')
            && (rest == "py" || rest.ends_with("so"))
        {
            names.push(stem.to_owned());
        }
        found.push((path, names));
    }
    found.sort();
    found
}

/// Adds those of these names that are words of a text: every run of letters, digits and the marks
/// of file names is one, and each part of it between the marks.
fn find_words(text: &[u8], names: &HashSet<&str>, found: &mut BTreeSet<String>) {
    let text = String::from_utf8_lossy(text);
    for word in text.split(|char: char| !char.is_alphanumeric() && !"_-.".contains(char)) {
        let parts = word.split(['.', '-']);
        for part in std::iter::once(word.trim_end_matches('.')).chain(parts) {
            if names.contains(part) && !found.contains(part) {
                found.insert(part.to_owned());
            }
        }
    }
}

/// The content of a file that is read whole.
fn content(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, Links::Followed, READ_WHOLE).ok()
}

/// The same for a file, unless it is no text.
fn find_words_of_text(bytes: &[u8], names: &HashSet<&str>, found: &mut BTreeSet<String>) {
    if !bytes.contains(&0) {
        find_words(bytes, names, found);
    }
}

/// A value that changes when one of these files does, from their sizes and dates.
pub(crate) fn state_of_files(files: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    for path in files {
        let state = match path.metadata() {
            Ok(metadata) => stamp(path, &metadata),
            Err(_) => "gone".to_owned(),
        };
        hasher.update(state.as_bytes());
    }
    hasher.finalize().to_string()
}

/// A text that changes when a file's content, or a folder's files, change.
fn state(path: &Path) -> Vec<u8> {
    let Ok(metadata) = fs::metadata(path) else {
        return b"gone".to_vec();
    };
    if metadata.is_dir() {
        let mut lines = Vec::new();
        stamps(path, &mut lines);
        lines.sort();
        return lines.concat().into_bytes();
    }
    match content(path) {
        Some(bytes) => blake3::hash(&bytes).as_bytes().to_vec(),
        None => stamp(path, &metadata).into_bytes(),
    }
}

/// Sizes and dates of all files below a folder.
fn stamps(folder: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if lines.len() >= ENTRIES || hidden || entry.file_name() == "__pycache__" {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => stamps(&entry.path(), lines),
            _ => lines.extend(
                entry
                    .path()
                    .metadata()
                    .map(|metadata| stamp(&entry.path(), &metadata)),
            ),
        }
    }
}

fn stamp(path: &Path, metadata: &fs::Metadata) -> String {
    let date = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{} {} {date:?}\n", path.display(), metadata.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    #[test]
    fn files_that_the_script_names_count_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let script = folder.join("x.py");
        let text = b"import helper, pack.inner\nopen('data.json')\nt.min()\n";
        put(folder, "x.py", "");
        put(folder, "helper.py", "from deeper import y\n");
        let now = || fingerprint(&script, &[text], &[], &[], &[&folder.join("out.json")]);
        let mut last = now();
        for (name, content, counts) in [
            ("other.py", "1", false),
            ("x.min.py", "1", false),
            ("out.json", "1", false),
            ("data.txt", "1", false),
            ("__pycache__/helper.pyc", "1", false),
            ("helper.py", "from deeper import z\n", true),
            ("deeper.py", "1", true),
            ("data.json", "1", true),
            ("pack/inner.py", "1", true),
            ("pack/more/deep.txt", "1", true),
            ("pack/__pycache__/inner.pyc", "1", false),
        ] {
            put(folder, name, content);
            let next = now();
            assert_eq!(next != last, counts, "{name}");
            assert_eq!(next, now(), "{name}");
            last = next;
        }
    }

    #[test]
    fn programs_of_a_test_count_and_what_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let programs = [folder.join("test.sh")];
        let now = || {
            fingerprint(
                &folder.join("x.py"),
                &[b"", b"./test.sh"],
                &programs,
                &[],
                &[],
            )
        };
        let gone = now();
        put(folder, "test.sh", "grep -f words.txt \"$1\"");
        let there = now();
        put(folder, "words.txt", "a");
        assert!(gone != there && there != now());
    }
}
