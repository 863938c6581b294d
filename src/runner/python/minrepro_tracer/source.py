"""The script's text: the statement on a line, what it reads, what it makes. Knows nothing of a run but the frames that
names are looked up in.
"""

import sys


def is_path(node):
    """Whether an expression only looks up: a name, an attribute or an element of a path, at a constant or a path."""
    import ast

    if isinstance(node, ast.Attribute):
        return is_path(node.value)
    if isinstance(node, ast.Subscript):
        index = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
        return is_path(node.value) and (isinstance(index, ast.Constant) or is_path(index))
    return isinstance(node, ast.Name)


def looked_up(node, frame, *default):
    """The value of a path of names and attributes, as far as looking it up runs no code of anyone's."""
    import ast

    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(sys.modules["builtins"])):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        names = getattr(looked_up(node.value, frame, None), "__dict__", {})
        if node.attr in names:
            return names[node.attr]
    if default:
        return default[0]
    raise LookupError


class Source:
    """The text of the script, parsed when it is asked about."""

    def __init__(self, source):
        self.bytes = source
        self.parsed = None
        self.made = None
        self.makers = {}  # line -> what `maker` says of it
        self.comprehended = None
        self.lines = None
        self.found_nodes = None

    def tree(self):
        import ast

        if self.parsed is None:
            self.parsed = ast.parse(self.bytes)
        return self.parsed

    def all_nodes(self):
        """All nodes of the script's tree: to find them takes longer than to look at them."""
        import ast

        if self.found_nodes is None:
            self.found_nodes = list(ast.walk(self.tree()))
        return self.found_nodes

    def maker(self, line):
        """The statement on a line that is a call, or keeps or returns what it makes: the target, the expression, and the paths
        that it reads. The target is `...` where nothing is kept, and nothing where it is returned.

        The callee's own name is no such path, only what it is looked up in.
        """
        if line not in self.makers:
            self.makers[line] = next(filter(None, map(self.made_by, self.made_on().get(line, ()))), None)
        return self.makers[line]

    def made_on(self):
        """By line, the targets and values of the statements that may be such."""
        import ast

        if self.made is not None:
            return self.made
        found = self.made = {}
        for node in self.all_nodes() if hasattr(ast, "unparse") else ():
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name) or isinstance(target, ast.Attribute) and is_path(target):
                    found.setdefault(node.lineno, []).append((target, node.value))
            elif isinstance(node, (ast.With, ast.AsyncWith)) and len(node.items) == 1:
                if isinstance(node.items[0].optional_vars, ast.Name):
                    pair = node.items[0].optional_vars, node.items[0].context_expr
                    found.setdefault(node.lineno, []).append(pair)
            elif isinstance(node, ast.Return) and node.value is not None:
                found.setdefault(node.lineno, []).append((None, node.value))
            elif isinstance(node, ast.Expr):
                found.setdefault(node.lineno, []).append((..., node.value))
        return found

    def made_by(self, pair):
        """A target, a value and the paths that the value reads; nothing if it does more than to call."""
        import ast

        target, value = pair
        allowed = (ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Dict)
        allowed += (ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context, ast.Starred)
        parts = list(ast.walk(value))
        if not isinstance(value, ast.Call) or not all(isinstance(node, allowed) for node in parts):
            return None
        callees = [node.func for node in parts if isinstance(node, ast.Call)]
        paths = {}
        todo = [value]
        while todo:
            node = todo.pop(0)
            if isinstance(node, (ast.Name, ast.Attribute)) and is_path(node):
                while isinstance(node, ast.Attribute) and any(node is callee for callee in callees):
                    node = node.value
                paths[ast.unparse(node)] = node
            else:
                todo += ast.iter_child_nodes(node)
        return target, value, paths

    def text(self, node):
        """A node as it is written."""
        from importlib.util import decode_source

        # `ast.get_source_segment` would go through the whole text for each node.
        if self.lines is None:
            self.lines = [line.encode() for line in decode_source(self.bytes).split("\n")]
        if getattr(node, "end_lineno", None) is None or node.end_col_offset is None:
            return None
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()

    def statement(self, line, tree=None):
        """The statement on a line; of another tree of the same text, if there is one."""
        import ast

        nodes = self.all_nodes() if tree is None else ast.walk(tree)
        at = [node for node in nodes if isinstance(node, ast.stmt) and node.lineno <= line]
        return max(at, key=lambda node: (node.lineno, node.col_offset), default=None)

    def nodes(self, line):
        """The nodes of the statement on a line, the outer ones first, those of the statements within it left out."""
        import ast

        todo = [self.statement(line)]
        while todo:
            node = todo.pop(0)
            if node is not None:
                yield node
                for field, value in ast.iter_fields(node):
                    if field not in ("body", "orelse", "finalbody", "handlers", "cases") or isinstance(node, ast.expr):
                        parts = value if isinstance(value, list) else [value]
                        todo += [part for part in parts if isinstance(part, ast.AST)]

    def reads(self, line):
        """What the statement on a line reads, as it is written: names, attributes of names, and elements of these."""
        import ast

        paths = [node for node in self.nodes(line) if is_path(node) and isinstance(node.ctx, ast.Load)]
        return list(dict.fromkeys(text for text in map(self.text, paths) if text is not None))

    def calls(self, line):
        """The calls in the statement on a line, as they are written."""
        import ast

        return {self.text(node) for node in self.nodes(line) if isinstance(node, ast.Call)}

    def comprehends(self, line):
        """Whether a line is one that a comprehension stands on."""
        import ast

        if self.comprehended is None:
            kinds = (ast.ListComp, ast.SetComp, ast.DictComp)
            found = [node for node in self.all_nodes() if isinstance(node, kinds)]
            self.comprehended = {line for node in found for line in range(node.lineno, node.end_lineno + 1)}
        return line in self.comprehended

    def comprehensions(self, place):
        """The comprehensions of one function around a place that they turn over, the outermost first."""
        import ast

        def is_in(node):
            start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            return start <= (place[0], place[1]) and (place[2], place[3]) <= end

        found = []
        for node in self.nodes(place[0]):
            if isinstance(node, ast.Lambda) and is_in(node.body):
                found = []
            elif hasattr(node, "generators") and is_in(node) and not is_in(node.generators[0].iter):
                found = [] if isinstance(node, ast.GeneratorExp) else found + [node]
        return found

    def loop_around(self, lines):
        """The line on which the innermost loop begins that all of some lines are in, if there is one."""
        import ast

        loops = [node for node in self.all_nodes() if isinstance(node, (ast.While, ast.For, ast.AsyncFor))]
        around = [loop.lineno for loop in loops if all(loop.lineno <= line <= loop.end_lineno for line in lines)]
        return max(around, default=None) if lines else None

    def rest_of(self, line):
        """The lines of the statements that may follow a line in its function."""
        import ast

        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        functions = [node for node in self.all_nodes() if isinstance(node, kinds)]
        around = [node for node in functions if node.lineno <= line <= node.end_lineno]
        scope = max(around, key=lambda node: node.lineno, default=self.tree())
        return sorted({node.lineno for node in ast.walk(scope) if isinstance(node, ast.stmt) and node.lineno > line})

    def functions(self, line, called):
        """The functions of the script that the statement on a line reads by name; only those not called there, or all."""
        import ast

        calls = [node for node in self.all_nodes() if isinstance(node, ast.Call)]
        here = [node.func for node in calls if node.lineno <= line <= node.end_lineno]
        left_out = set() if called else {ast.dump(node) for node in here}
        named = [name for name in self.reads(line) if ast.dump(ast.parse(name, mode="eval").body) not in left_out]
        return self.named({name.rpartition(".")[2] for name in named}, self.tree())

    def named(self, names, scope):
        """The functions within a node that have one of some names."""
        import ast

        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in ast.walk(scope) if isinstance(node, kinds) and node.name in names]

    def forwards(self, entered):
        """What modules that were made do when they are called."""
        import ast

        found = []
        for scope in self.all_nodes():
            if isinstance(scope, ast.ClassDef) and any(node.lineno in entered for node in self.named({"__init__"}, scope)):
                found += self.named({"forward"}, scope)
        return found
