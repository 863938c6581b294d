"""Further runs of a script that failed, for values that the first one does not show."""

import os
import sys

from .tracer import CALLS, Tracer
from .writer import Writer

PATIENCE = 3  # times as long as the first run another one may take
GRACE = 1.0  # seconds more


def module(script):
    import types

    made = types.ModuleType("__main__")
    made.__file__ = script
    made.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = made
    return made.__dict__


def run_again(tracer, code, namespace):
    """Runs a script once more, silently. Returns the exception that it failed with."""
    failed = None
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    streams = [os.dup(stream) for stream in (1, 2)]
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    stop = tracer.start() if tracer is not None else lambda: None
    try:
        exec(code, namespace)
    except BaseException as error:
        failed = error
    stop()
    sys.stdout.flush()
    sys.stderr.flush()
    for stream, saved in zip((1, 2), streams):
        os.dup2(saved, stream)
    return failed


def recorded(source, lines, record):
    """The script, compiled so that it reports the values of the calls in the statements on some lines."""
    import ast

    tree = ast.parse(source.bytes)
    statements = [source.statement(line, tree) for line in lines]

    class Recorder(ast.NodeTransformer):
        def visit_Call(self, node):
            text = source.text(node)
            self.generic_visit(node)
            if text is None:
                return node
            name = ast.Name(record, ast.Load())
            call = ast.Call(name, [ast.Constant(text, kind=None), node], [])
            return ast.copy_location(call, node)

        def visit_JoinedStr(self, node):
            # Before CPython 3.12 the nodes in it have wrong positions.
            return node

    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for statement in statements:
        if statement is None or isinstance(statement, kinds):
            continue
        for field, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, field, Recorder().visit(value))
    return compile(ast.fix_missing_locations(tree), "", "exec", dont_inherit=True)


def run_recorded(tracer, error, seconds):
    """Runs a script once more, in a process of its own, and adds what the calls in its failing statements returned."""
    import json
    import select
    import signal
    import warnings

    lines = {frame["line"] for frame in tracer.failure}
    if not any(tracer.source.calls(line) for line in lines):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    out, into = os.pipe()
    with warnings.catch_warnings():
        # Threads that the script started are not there in the child; it is stopped if it waits for them.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            results = {}
            if "torch" in sys.modules:
                # Threads of the first run are not there any more.
                sys.modules["torch"].set_num_threads(1)
            again = Tracer(tracer.script, tracer.source)
            again.namespace = module(tracer.script)
            counts = {}

            def record(text, value):
                counts[text] = counts.get(text, 0) + 1
                if counts[text] <= CALLS:
                    results[text] = Writer(again).recorded(value)
                return value

            again.namespace["__recorded__"] = record
            code = recorded(tracer.source, lines, "__recorded__")
            failed = run_again(again, code.replace(co_filename=tracer.script), again.namespace)
            if type(failed).__name__ == type(error).__name__:
                known = {text: value for text, value in results.items() if value is not None}
                os.write(into, json.dumps(known).encode())
        finally:
            os._exit(0)
    os.close(into)
    written = b""
    while select.select([out], [], [], PATIENCE * seconds + GRACE)[0]:
        part = os.read(out, 1 << 16)
        if not part:
            break
        written += part
    os.close(out)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for frame in tracer.failure if written else ():
        own = tracer.source.calls(frame["line"])
        frame["results"] = {text: value for text, value in json.loads(written).items() if text in own}


def run_eagerly(tracer, code, lines, library_line, in_packages, forward):
    """Runs a script once more without PyTorch's compiler, and adds the values of that run."""
    torch = sys.modules["torch"]
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    # Where nothing is compiled yet, saying so would first import the compiler.
    if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
        torch.compiler.set_stance("force_eager")
    eager = Tracer(tracer.script, tracer.source)
    eager.covered = tracer.covered
    eager.namespace = module(tracer.script)
    watched = list(lines) + list(forward)
    for line in forward:
        watched += tracer.source.rest_of(line)
    eager.watch(watched, library_line, in_packages)
    run_again(eager, code, eager.namespace)
    tracer.add(eager, lines, forward)


def forward_lines(script, code):
    """The script's lines, outermost first, of the forward call whose backward fails: autograd's anomaly mode names them."""
    import re
    import warnings

    torch = sys.modules["torch"]
    said = []
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    warnings.simplefilter("always")
    names = ("showwarning", "filterwarnings", "simplefilter")
    saved = [getattr(warnings, name) for name in names]
    warnings.showwarning = lambda message, *rest, **more: said.append(str(message))
    # Warnings that the script silences matter here.
    warnings.filterwarnings = warnings.simplefilter = lambda *rest, **more: None
    try:
        run_again(None, code, module(script))
    finally:
        for name, value in zip(names, saved):
            setattr(warnings, name, value)
        torch.autograd.set_detect_anomaly(False)
    lines = []
    for text in said:
        if "Traceback of forward call" in text:
            found = re.findall(r'File "([^"]+)", line (\d+)', text)
            lines = [int(line) for file, line in found if file == script] or lines
    return lines
