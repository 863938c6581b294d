r"""Expand ${...} expressions in build files.

    name = "tool" + "-" + version
    ${name}.exe, ${count * 2 + 1}, ${upper(name)}

A hand-written tokenizer, a recursive-descent parser and a tree of closures.
Works on Linux; on my colleague's Windows settings it dies in re, with a message
about escapes, though there is no regular expression of mine with a \U in it.
"""
import operator
import os.path
import re
import sys
from typing import Any, Callable, NamedTuple

DEBUG = False


class Token(NamedTuple):
    kind: str
    text: str
    position: int

    def __str__(self):
        return f"{self.kind} {self.text!r} at {self.position}"


TOKENS = {
    "number": r"\d+",
    "string": r'"[^"]*"',
    "name": r"[A-Za-z_]\w*",
    "sign": r"[-+*(),]",
    "space": r"\s+",
    "junk": r".",
}
SCANNER = re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in TOKENS.items()))
MACRO = re.compile(r"\$\{([^}]*)\}")

Scope = dict[str, Any]
Node = Callable[[Scope], Any]

SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class ExpansionError(Exception):
    pass


def tokenize(text: str) -> list[Token]:
    result = []
    for found in SCANNER.finditer(text):
        kind = found.lastgroup
        if kind == "space":
            continue
        if kind == "junk":
            raise ExpansionError(f"{found.group()!r} in {text!r}")
        result.append(Token(kind, found.group(), found.start()))
    result.append(Token("end", "", len(text)))
    return result


class Parser:
    def __init__(self, text: str):
        self.text = text
        self.tokens = tokenize(text)
        self.index = 0

    def peek(self) -> Token:
        return self.tokens[self.index]

    def take(self, *texts: str) -> Token | None:
        token = self.peek()
        if texts and token.text not in texts:
            return None
        self.index += 1
        return token

    def parse(self) -> Node:
        node = self.sum()
        if self.peek().kind != "end":
            raise ExpansionError(f"unexpected {self.peek()}")
        return node

    def binary(self, inner: Callable[[], Node], *signs: str) -> Node:
        left = inner()
        while token := self.take(*signs):
            left = self.combine(SIGNS[token.text], left, inner())
        return left

    @staticmethod
    def combine(function, left: Node, right: Node) -> Node:
        return lambda scope: function(left(scope), right(scope))

    def sum(self) -> Node:
        return self.binary(self.product, "+", "-")

    def product(self) -> Node:
        return self.binary(self.atom, "*")

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return lambda scope: int(token.text)
        if token.kind == "string":
            return lambda scope: token.text[1:-1]
        if token.kind == "name":
            if self.take("("):
                return self.call(token.text)
            return lambda scope: scope[token.text]
        if token.text == "(":
            node = self.sum()
            if not self.take(")"):
                raise ExpansionError("bracket is missing")
            return node
        raise ExpansionError(f"unexpected {token}")

    def call(self, name: str) -> Node:
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        if not self.take(")"):
            raise ExpansionError(f"call of {name} does not end")
        return lambda scope: scope[name](*(argument(scope) for argument in arguments))


class Expander:
    functions = {"upper": str.upper, "lower": str.lower, "join": lambda *parts: "\\".join(parts),
                 "stem": lambda path: os.path.splitext(path)[0]}

    def __init__(self, **names: Any):
        self.scope: Scope = {**self.functions, **names}
        self.cache: dict[str, Node] = {}

    def define(self, line: str) -> None:
        name, _, text = line.partition("=")
        self.scope[name.strip()] = self.evaluate(text)

    def evaluate(self, text: str) -> Any:
        if text not in self.cache:
            self.cache[text] = Parser(text).parse()
        return self.cache[text](self.scope)

    def expand(self, line: str) -> str:
        while found := MACRO.search(line):
            value = str(self.evaluate(found[1]))
            if DEBUG:
                print(found[0], "->", value, file=sys.stderr)
            line = MACRO.sub(value, line, count=1)
        return line


SETTINGS = r"""
version = "2." + "7"
name = "tool-" + version
home = "C:\Users\eva"
threads = 2 * (3 + 1) - 1
target = join(home, "build", name)
"""

BUILD = """\
echo Building ${upper(name)}
make -j${threads} VERSION=${version}
copy ${name}.exe ${target}
copy ${stem("readme.txt")}.md ${target}
"""


def main() -> None:
    expander = Expander(platform=sys.platform)
    for line in SETTINGS.strip().splitlines():
        expander.define(line)
    for number, line in enumerate(BUILD.splitlines(), 1):
        print(f"{number:3} {expander.expand(line)}")


if __name__ == "__main__":
    main()
