"""Tiny algebra system: parse, simplify, print.

Python 3.10 or later, because of `match`. Parsing and printing are fine.
simplify() blows up at the first product.  Is `case Mul(Num(0), _)` not allowed??
"""
import cmath
import dis
import itertools
import keyword
import operator
import re
import sys
import token
import typing
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce, total_ordering

assert sys.version_info >= (3, 10), 'needs match'

DEBUG = '--debug' in sys.argv
TOKEN = re.compile(r'\s*(?:(?P<number>\d+)|(?P<name>[a-z]\w*)|(?P<sign>[-+*/^()]))')
PRIORITY = {'+': 1, '-': 1, '*': 2, '/': 2, '^': 3}
OPERATORS = {'+': operator.add, '-': operator.sub, '*': operator.mul, '/': operator.truediv, '^': operator.pow}


class Node:
    __match_args__ = []
    priority = 9

    def __add__(self, other): return Sum(self, other)
    def __mul__(self, other): return Mul(self, other)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self), *vars(self).values()))

    def wrap(self, inner: 'Node') -> str:
        return f'({inner})' if inner.priority < self.priority else f'{inner}'


class Num(Node):
    __match_args__ = Node.__match_args__ + ['value']

    def __init__(self, value):
        self.value = Fraction(value)

    def __str__(self):
        return str(self.value)


@total_ordering
class Var(Node):
    __match_args__ = Node.__match_args__ + ['name']

    def __init__(self, name):
        if keyword.iskeyword(name):
            print(name, 'is a funny name for a variable')
        self.name = name

    def __lt__(self, other):
        return self.name < other.name

    __eq__, __hash__ = Node.__eq__, Node.__hash__

    def __str__(self):
        return self.name


class Binary(Node):
    __match_args__ = Node.__match_args__ + ['left', 'right']
    sign = '?'

    def __init__(self, left, right):
        self.left, self.right = left, right

    @property
    def priority(self):
        return PRIORITY.get(self.sign, 0)

    def __str__(self):
        return f'{self.wrap(self.left)} {self.sign} {self.wrap(self.right)}'


class Sum(Binary): sign = '+'
class Diff(Binary): sign = '-'
class Mul(Binary): sign = '*'
class Div(Binary): sign = '/'
class Power(Binary): sign = '^'


CLASSES = {cls.sign: cls for cls in (Sum, Diff, Mul, Div, Power)}


def tokenize(text):
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        if found is None:
            raise SyntaxError(f'what is {text[position]!r}?')
        yield found.lastgroup, found[found.lastgroup]
        position = found.end()
    yield 'end', ''


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens = list(tokenize(text))
        self.at = 0

    @property
    def next(self):
        return self.tokens[self.at]

    def take(self):
        result = self.tokens[self.at]
        self.at += 1
        return result

    def atom(self):
        match self.take():
            case 'number', digits:
                return Num(digits)
            case 'name', name:
                return Var(name)
            case 'sign', '(':
                inner = self.expression()
                assert self.take() == ('sign', ')'), 'where is the bracket?'
                return inner
            case 'sign', '-':
                return Num(-1) * self.atom()
            case kind, text:
                raise SyntaxError(f'{kind} {text} was not expected')

    def expression(self, least=1):
        left = self.atom()
        while (sign := self.next[1]) in PRIORITY and PRIORITY[sign] >= least:
            self.take()
            left = CLASSES[sign](left, self.expression(PRIORITY[sign] + (sign != '^')))
        return left


def simplify(node):
    for name in ('left', 'right'):
        if hasattr(node, name):
            setattr(node, name, simplify(getattr(node, name)))
    match node:
        case Mul(Num(0), _) | Mul(_, Num(0)):
            return Num(0)
        case Mul(Num(1), other) | Mul(other, Num(1)) | Sum(Num(0), other) | Sum(other, Num(0)):
            return other
        case Binary(Num(a), Num(b)) if node.sign in OPERATORS:
            return Num(OPERATORS[node.sign](a, b))
        case Diff(a, b) if a == b:
            return Num(0)
        case Power(base, Num(value=2)):
            return Mul(base, base)
        case _:
            return node


def evaluate(node, **names):
    if isinstance(node, Num): return node.value
    if isinstance(node, Var): return names[node.name]
    return OPERATORS[node.sign](evaluate(node.left, **names), evaluate(node.right, **names))


@dataclass(slots=True, frozen=True)
class Example:
    text: str
    names: typing.Mapping[str, int]
    result: int | float | None = None

    def check(self) -> bool:
        return self.result is None or cmath.isclose(evaluate(Parser(self.text).expression(), **self.names), self.result)


EXAMPLES = [
    Example('1 + 2 * 3', {}, 7),
    Example('(x + 1) * (x - 1)', {'x': 4}, 15),
    Example('2 ^ 3 ^ n', {'n': 1}, 8),
    Example('0 * (a + b) + 1 * c', dict(a=1, b=2, c=3), 3),
]

if DEBUG:
    dis.dis(simplify)
    print(token.tok_name, reduce(operator.or_, [1, 2]))

for number, example in zip(itertools.count(1), EXAMPLES):
    tree = Parser(example.text).expression()
    print(number, example.check(), tree, sep='\t')
    print('', simplify(tree), sep='\t')
