//! What a program reads from files was written before: by calls that share no variable with those that
//! read it, but the file system. Goes by names, and by no file in particular. Called by the rest of
//! the dependence check.

use super::Rest;
use crate::{
    analysis::calls::callee_name,
    syntax::{
        AnyNodeRef,
        ast::{Expr, ExprCall},
    },
};

/// The names of functions that read files, or list them.
const READING: [&str; 8] = [
    "glob",
    "iglob",
    "iterdir",
    "listdir",
    "read_bytes",
    "read_text",
    "rglob",
    "scandir",
];

/// The names of functions and methods that write something.
const WRITING: [&str; 14] = [
    "dump",
    "mkdir",
    "mkstemp",
    "savetxt",
    "symlink_to",
    "touch",
    "truncate",
    "unlink",
    "write",
    "write_bytes",
    "write_text",
    "writelines",
    "writerow",
    "writerows",
];

/// The modules whose functions move, copy or remove files, and the beginnings of their names.
const MODULES: [&str; 2] = ["os", "shutil"];
const MOVING: [&str; 9] = [
    "copy", "link", "make", "mkdir", "move", "remove", "rename", "replace", "rm",
];

impl Rest<'_, '_> {
    /// The executed statements that write files, if a node reads one.
    pub(super) fn writers(&self, node: AnyNodeRef<'_>) -> Vec<usize> {
        let reads = node.as_expr_call().is_some_and(|call| reads_file(call));
        let statements = (0..self.outline.statements.len()).filter(|_| reads);
        let executed = statements.filter(|&at| self.outline.statements[at].is_executed);
        let writers = executed.filter(|&at| {
            let mut calls = self.nodes[at].iter().filter_map(AnyNodeRef::as_expr_call);
            calls.any(|call| self.writes_file(call))
        });
        writers.collect()
    }

    /// Whether a call writes a file, or moves one.
    fn writes_file(&self, call: &ExprCall) -> bool {
        let path = self.imported.path(&call.func);
        let moves = path.is_some_and(|path| {
            let (module, name) = path.split_once('.').unwrap_or((&path, ""));
            MODULES.contains(&module) && MOVING.iter().any(|moving| name.starts_with(moving))
        });
        let name = callee_name(&call.func);
        moves
            || name.is_some_and(|name| WRITING.contains(&name))
            || name == Some("open") && !reads_file(call)
    }
}

/// Whether a call reads a file, or opens one for that.
fn reads_file(call: &ExprCall) -> bool {
    let Some(name) = callee_name(&call.func) else {
        return false;
    };
    // The method of a path gets no path.
    let position = usize::from(call.func.is_name_expr());
    let mode = call.arguments.find_argument_value("mode", position);
    let mode = mode.and_then(Expr::as_string_literal_expr);
    let is_for_reading = mode.is_none_or(|mode| mode.value.to_str().starts_with('r'));
    READING.contains(&name) || name == "open" && is_for_reading
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::dependence_check::{ReportSite, operations},
        syntax::Program,
    };

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        let found = operations(&Program::parse(text).unwrap(), &site, None);
        let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_is_read_was_written() {
        let write = "import json, shutil\nwith open('a', 'w') as out:\n    json.dump(x, out)\nshutil.copy('a', 'b')\n";
        check(
            &format!("{write}assert open('b').read()\n"),
            &["copy() alone", "dump() alone", "open()", "read()"],
        );
        check(&format!("{write}y = f(1)\nassert y\n"), &["f()"]);
        check(
            "from pathlib import Path\nPath('a').write_text(str(1))\ny = 'a'.replace('a', 'b')\nassert Path(y).read_text()\n",
            &[
                "Path()",
                "read_text()",
                "replace()",
                "str()",
                "write_text() alone",
            ],
        );
    }
}
