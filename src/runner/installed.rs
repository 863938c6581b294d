//! Which files belong to installed libraries and to the interpreter rather than to the script.
//! Pure. Called by the oracle and by scrub.

use crate::text::pattern;

pattern!(PACKAGES, r"/(?:site|dist)-packages/");
pattern!(INTERPRETER, r"/lib\d*/python3[\d.]*t?/|\.zip/");

/// Whether a file comes with an interpreter or was installed for it, or is none at all, as
/// `<string>` is.
pub fn is_installed(file: &str) -> bool {
    file.starts_with('<') || installed_path(file).is_some()
}

/// The path of an installed file below the folder of packages, or else below that of the standard
/// library.
pub fn installed_path(file: &str) -> Option<&str> {
    package_path(file).or_else(|| below(&INTERPRETER, file))
}

/// The path of a file of an installed package, from the package on.
pub fn package_path(file: &str) -> Option<&str> {
    below(&PACKAGES, file)
}

fn below<'f>(folder: &regex::Regex, file: &'f str) -> Option<&'f str> {
    let found = folder.find_iter(file).last()?;
    Some(&file[found.end()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_files_are_named_without_their_folders() {
        for (file, path) in [
            (
                "/v/lib/python3.12/site-packages/torch/fx/node.py",
                Some("torch/fx/node.py"),
            ),
            ("/usr/lib/python3/dist-packages/six.py", Some("six.py")),
            ("/usr/lib64/python3.13t/queue.py", Some("queue.py")),
            ("/x/python312.zip/json/decoder.py", Some("json/decoder.py")),
            ("/home/me/lib/helper.py", None),
        ] {
            assert_eq!(installed_path(file), path, "{file}");
            assert_eq!(is_installed(file), path.is_some(), "{file}");
        }
        assert!(is_installed("<string>"));
        assert_eq!(package_path("/usr/lib/python3.11/queue.py"), None);
    }
}
