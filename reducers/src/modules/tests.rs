//! The texts of joined programs. Tests with real interpreters check that they behave the same.

use super::*;
use crate::trace::evidence::{SourceLine, TracedModule};

/// Evidence of a program and modules, each given as name, line of the file before it that imported
/// it as `FILE:LINE`, and text; all lines were executed but those that end in `# not executed`.
fn joined(main: &str, modules: &[(&str, (u32, u32), &str)]) -> Joined {
    let mut evidence = Evidence::default();
    evidence.files.push("run.py".to_owned());
    let add_lines = |evidence: &mut Evidence, file: u32, text: &str| {
        for (number, line) in (1..).zip(text.lines()) {
            if !line.ends_with("# not executed") {
                evidence.hits.insert(SourceLine::of_file(file, number), 1);
            }
        }
    };
    add_lines(&mut evidence, 0, main);
    for (file, (name, (at, line), text)) in (1..).zip(modules) {
        add_lines(&mut evidence, file, text);
        let is_package = modules
            .iter()
            .any(|(other, ..)| other.starts_with(&format!("{name}.")));
        let package = if is_package {
            name
        } else {
            name.rsplit_once('.').map_or("", |(package, _)| package)
        };
        evidence
            .files
            .push(format!("{}.py", name.replace('.', "/")));
        evidence.sources.insert(file, (*text).to_owned());
        evidence.modules.push(TracedModule {
            name: (*name).to_owned(),
            package: package.to_owned(),
            is_package,
            file,
            at: SourceLine::of_file(*at, *line),
        });
    }
    join(&Program::parse(main).unwrap(), &evidence, &|_| true)
}

#[track_caller]
fn check(main: &str, modules: &[(&str, (u32, u32), &str)], expected: &str) {
    let joined = joined(main, modules);
    assert_eq!(joined.text, expected, "{:?}", joined.left);
    assert!(joined.left.is_empty(), "{:?}", joined.left);
}

#[track_caller]
fn check_left(main: &str, modules: &[(&str, (u32, u32), &str)], module: &str, reason: &str) {
    let joined = joined(main, modules);
    assert_eq!(
        joined.left.get(module).map(String::as_str),
        Some(reason),
        "{}",
        joined.text
    );
}

#[test]
fn names_that_are_imported_need_no_import() {
    let util = ("util", (0, 1), "def f(x):\n    return x\n");
    check(
        "from util import f\nf(1)\n",
        &[util],
        "def f(x):\n    return x\nf(1)\n",
    );
    check(
        "from util import f as g\ng(1)\n",
        &[util],
        "def f(x):\n    return x\nf(1)\n",
    );
    check(
        "import util\nutil.f(1)\n",
        &[util],
        "def f(x):\n    return x\nf(1)\n",
    );
    check(
        "import util as u\nu.f(u.__name__)\n",
        &[util],
        "def f(x):\n    return x\nf(\"util\")\n",
    );
    check(
        "from util import *\nf(1)\n",
        &[util],
        "def f(x):\n    return x\nf(1)\n",
    );
}

#[test]
fn names_that_clash_are_renamed() {
    let util = (
        "util",
        (0, 1),
        "size = 3\ndef grow():\n    global size\n    size += 1\n",
    );
    check(
        "import util\nsize = 1\nutil.grow()\nprint(size, util.size)\n",
        &[util],
        "util_size = 3\ndef grow():\n    global util_size\n    util_size += 1\nsize = 1\ngrow()\nprint(size, util_size)\n",
    );
    // A built-in of others, and a local variable where it is used under another name.
    check(
        "import util\nutil.open()\nopen('x')\n",
        &[("util", (0, 1), "def open(): pass\n")],
        "def util_open(): pass\nutil_open()\nopen('x')\n",
    );
    check(
        "import util\ndef g(f):\n    return util.f(f)\n",
        &[("util", (0, 1), "def f(x): pass\n")],
        "def util_f(x): pass\ndef g(f):\n    return util_f(f)\n",
    );
}

#[test]
fn packages_see_the_modules_that_are_imported_in_them() {
    check(
        "import shop\nshop.f()\n",
        &[
            (
                "shop",
                (0, 1),
                "from .core import *\nnames = core.names + ['f']\ndef f(): return core.g()\n",
            ),
            ("shop.core", (1, 1), "names = []\ndef g(): pass\n"),
        ],
        "core_names = []\ndef g(): pass\nnames = core_names + ['f']\ndef f(): return g()\nf()\n",
    );
}

#[test]
fn stars_bring_the_modules_of_a_package() {
    check(
        "from shop import *\ncore.f()\n",
        &[
            ("shop", (0, 1), "from . import core as _core\n"),
            ("shop.core", (1, 1), "def f(): pass\n"),
        ],
        "def f(): pass\nf()\n",
    );
}

#[test]
fn what_two_import_from_elsewhere_is_one_thing() {
    check(
        "import os\nimport util\nos.getcwd()\n",
        &[("util", (0, 2), "import os\nos.sep\n")],
        "import os\nimport os\nos.sep\nos.getcwd()\n",
    );
    check(
        "from os import path\nimport util\npath\n",
        &[("util", (0, 2), "from sys import path\npath\n")],
        "from os import path\nfrom sys import path as util_path\nutil_path\npath\n",
    );
}

#[test]
fn packages_are_run_in_the_order_in_which_they_were() {
    let modules = [
        (
            "shop",
            (0, 1),
            "from .core import Store\nfrom . import late\n",
        ),
        (
            "shop.core",
            (1, 1),
            "class Store:\n    def f(self):\n        from .late import g\n        return g(Store)\n",
        ),
        (
            "shop.late",
            (1, 2),
            "from shop.core import Store as S\ndef g(x): return S\n",
        ),
    ];
    check(
        "import shop.core\nshop.core.Store().f()\nshop.late.g(1)\n",
        &modules,
        "class Store:\n    def f(self):\n        pass\n        return g(Store)\n\ndef g(x): return Store\n\
         Store().f()\ng(1)\n",
    );
}

#[test]
fn conditional_imports_are_followed_as_executed() {
    check(
        "try:\n    from fast import f  # not executed\nexcept ImportError:\n    from slow import f\nf()\n",
        &[(
            "slow",
            (0, 4),
            "'''a\nb'''\ndef f():\n    return '''x\ny'''\n",
        )],
        "try:\n    from fast import f  # not executed\nexcept ImportError:\n    '''a\nb'''\n    def f():\n        return '''x\ny'''\nf()\n",
    );
}

#[test]
fn a_module_that_is_passed_about_is_made_as_an_object() {
    check(
        "import util\nprint(vars(util), util.x)\n",
        &[("util", (0, 1), "x = 1\n")],
        "x = 1\nimport sys, types\nutil_module = types.ModuleType(\"util\")\nutil_module.__dict__.update(x=x)\n\
         sys.modules[\"util\"] = util_module\nprint(vars(util_module), x)\n",
    );
}

#[test]
fn features_of_the_compiler_come_first() {
    check(
        "'''doc'''\nimport util\n",
        &[(
            "util",
            (0, 2),
            "from __future__ import annotations\nx: y = 1\n",
        )],
        "'''doc'''\nfrom __future__ import annotations\n\nx: y = 1\n",
    );
}

#[test]
fn what_cannot_be_rewritten_stays_and_says_why() {
    check_left(
        "import a; import b\n",
        &[("a", (0, 1), "x = 1\n")],
        "a",
        "the import shares its line with another statement",
    );
    check_left(
        "import util\ndef f():\n    util.x = 2\n",
        &[("util", (0, 1), "x = 1\n")],
        "util",
        "a function of another module assigns to its `x`",
    );
    check_left(
        "import util\nprint(f'{util.x=}')\n",
        &[("util", (0, 1), "x = 1\n")],
        "util",
        "a formatted string shows how it is named",
    );
    check_left(
        "import util\n",
        &[("util", (0, 1), "print(__path__)\n")],
        "util",
        "it reads its `__path__`",
    );
}
