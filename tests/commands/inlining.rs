//! Scripts with modules beside them, from the command to a file that stands alone.

use std::process::Command;

use super::Place;
use crate::support::{skip, snapshot, torch};

/// A package, a module that another imports late, and one that is never executed.
fn shop() -> Place {
    let place = Place::new();
    place.file("shop/__init__.py", "from .core import Store\n");
    place.file(
        "shop/core.py",
        "import logging\nfrom typing import TYPE_CHECKING\nfrom . import prices\n\
         from .prices import known as known_names\nif TYPE_CHECKING:\n    from .never import Thing\n\
         log = logging.getLogger(__name__)\n\nclass Store:\n    def __init__(self):\n        self.items = {}\n\n\
        \x20   def add(self, text):\n        name, price = prices.parse(text)\n        log.debug(name)\n\
        \x20       self.items[name] = price\n\n    def total(self):\n        from .late import names\n\
        \x20       return [self.items[name] for name in names(known_names)]\n",
    );
    place.file(
        "shop/prices.py",
        "SCALE = 3\n\ndef parse(text):\n    name, _, price = text.partition('=')\n\
        \x20   return name, int(price) * SCALE\n\ndef known():\n    return ('nut', 'bolt')\n",
    );
    place.file(
        "shop/late.py",
        "from .core import Store\n\ndef names(known):\n    return known()\n",
    );
    place.file("shop/never.py", "raise SystemExit('must not run')\n");
    place.file(
        "run.py",
        "import shop.prices\nfrom shop import Store\n\nSCALE = 2\n\ndef main():\n    store = Store()\n\
        \x20   for text in ['nut=1', 'screw=2']:\n        store.add(text)\n    print(SCALE, shop.prices.SCALE)\n\
        \x20   print(store.total())\n\nmain()\n",
    );
    place
}

#[test]
fn local_modules_are_inlined_and_the_result_stands_alone() {
    let place = shop();
    let before = snapshot(&place.work());
    let shown = place.shown(&["run.py", "--report", "r.json"]);
    assert!(shown.starts_with("status: 0\n"), "{shown}");
    assert!(
        shown.contains("inlined `shop`, `shop.core`, `shop.prices`, `shop.late`"),
        "{shown}"
    );
    assert!(
        shown.contains("stands alone: it shows the bug in an empty folder"),
        "{shown}"
    );
    let result = place.read("run.min.py");
    assert!(
        !result.contains("shop") && result.contains("bolt"),
        "{result}"
    );
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(report["inlining"]["alone"], "empty");
    assert_eq!(report["commits"][0]["pass"], "inline-modules");
    let mut after = snapshot(&place.work());
    after.retain(|entry| {
        let shown = format!("{entry:?}");
        !shown.contains("run.min.py") && !shown.contains("r.json")
    });
    assert_eq!(before, after);
}

#[test]
fn modules_stay_where_the_user_says_so() {
    let place = shop();
    let shown = place.shown(&["run.py", "--inline", "none"]);
    assert!(
        shown.starts_with("status: 0\n") && !shown.contains("alone"),
        "{shown}"
    );
    assert!(place.read("run.min.py").contains("shop"));
    let shown = place.shown(&["run.py", "--inline", "none,shop"]);
    assert!(
        shown.starts_with("status: 2\n") && shown.contains("hint: give `none` alone"),
        "{shown}"
    );
}

#[test]
fn a_module_that_cannot_be_inlined_is_reported_with_the_reason() {
    let place = Place::new();
    place.file(
        "lazy.py",
        "def __getattr__(name):\n    raise ValueError(f'no {name} here')\n",
    );
    place.file("run.py", "import lazy\nprint('begins')\nlazy.thing\n");
    let shown = place.shown(&["run.py"]);
    assert!(shown.starts_with("status: 7\n"), "{shown}");
    let reason =
        "it needs `lazy`, which is not inlined: it makes its names when they are asked for";
    assert!(
        shown.contains(&format!("does NOT stand alone: {reason}")),
        "{shown}"
    );
    assert_eq!(place.read("run.min.py"), "import lazy\nlazy.thing\n");
}

#[test]
fn files_that_are_read_are_named() {
    let place = Place::new();
    place.file("prices.csv", "nut,x\n");
    place.file(
        "table.py",
        "def rows():\n    return [line.split(',') for line in open('prices.csv')]\n",
    );
    place.file(
        "run.py",
        "import table\nfor name, price in table.rows():\n    print(float(price))\n",
    );
    let shown = place.shown(&["run.py", "--keep", "open"]);
    assert!(shown.starts_with("status: 0\n"), "{shown}");
    assert!(
        shown.contains("stands alone beside `prices.csv`, which it reads"),
        "{shown}"
    );
}

/// A script that uses an installed package, and a command that reduces it.
fn with_package(script: &str, module: &str, args: &[&str]) -> (Place, Command) {
    let place = Place::new();
    place.file("run.py", script);
    let base = "lib/site-packages/store";
    place.file(&format!("{base}/__init__.py"), "from .core import Store\n");
    place.file(&format!("{base}/core.py"), module);
    let mut command = place.command(&[&["run.py"], args].concat());
    command.env("PYTHONPATH", place.work().join("lib/site-packages"));
    (place, command)
}

/// A script with noise around a package that decodes a text.
const DECODES: &str = "\
import sys
from store import Store

def texts():
    for number in range(4):
        yield '{\"a\": %s}' % ('[' if number == 3 else number)

def main():
    print('starting', file=sys.stderr)
    store = Store('items')
    for text in texts():
        store.add(text)

main()
";

const STORE: &str = "\
import json
from . import __name__ as package

class Base:
    def __init__(self, name):
        self.name, self.rows = name, []

class Store(Base):
    def add(self, text):
        rows = len(self.rows)
        value = json.loads(text)
        self.rows.append((package, rows, value))
";

#[test]
fn what_fails_beneath_a_package_is_shown_without_it() {
    let (place, mut command) = with_package(DECODES, STORE, &[]);
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    let result = place.read("run.min.py");
    assert!(
        result.contains("json.loads(") && !result.contains("store"),
        "{result}"
    );
}

#[test]
fn a_package_stays_where_nothing_is_to_be_inlined() {
    let (place, mut command) = with_package(DECODES, STORE, &["--inline", "none"]);
    assert!(command.output().unwrap().status.success());
    let result = place.read("run.min.py");
    assert!(result.contains("store"), "{result}");
}

#[test]
fn what_a_package_raises_itself_is_not_raised_without_it() {
    let module = "\
class Store:
    def __init__(self, name):
        self.rows = [name]

    def add(self, text):
        if '[' in text:
            raise ValueError('no list may be added here')
";
    let (place, mut command) = with_package(DECODES, module, &[]);
    assert!(command.output().unwrap().status.success());
    let result = place.read("run.min.py");
    assert!(
        result.contains("Store(") && !result.contains("raise"),
        "{result}"
    );
}

#[test]
fn what_is_compiled_in_a_package_is_compiled_without_it() {
    const NAME: &str = "what_is_compiled_in_a_package_is_compiled_without_it";
    let Some(python) = torch() else {
        return skip(NAME, "no PyTorch was found");
    };
    let script = "\
import torch
from store import Store

def batches():
    for _ in range(2):
        yield torch.rand(2, 4)

torch.manual_seed(0)
model = torch.compile(Store(4), fullgraph=True, backend='eager')
for batch in batches():
    print(model(batch))
";
    let module = "\
from torch import nn

class Gate(nn.Module):
    def forward(self, hidden, limit=0):
        is_open = hidden.flatten().gt(limit).any().item()
        return hidden * 2 if is_open else hidden

class Store(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, size), Gate()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
";
    let args = ["-p", python.to_str().unwrap(), "-t", "60"];
    let (place, mut command) = with_package(script, module, &args);
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    let result = place.read("run.min.py");
    let has = |words: &[&str]| words.iter().all(|word| result.contains(word));
    assert!(
        has(&["torch.compile", "fullgraph=True", ".item()"]) && !has(&["store"]),
        "{result}"
    );
}
