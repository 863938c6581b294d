"""Has PyTorch's own minifier work on the graph that fails, and rewrites its result as a plain script.
Sent as the script itself: the script, and then the launcher that PyTorch wrote, run as processes of
this run, within a limit."""


def _minify(source, options):
    import glob, json, os, subprocess, sys, time

    out = os.environ["MINREPRO_ARTIFACTS"]
    path = os.path.abspath(sys.argv[0])
    with open(path, "wb") as file:
        file.write(source)
    found = {}

    def run(words, log, limit, **variables):
        """Runs Python; whether it ended in time."""
        settings = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS="1", **variables)
        settings["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.path.dirname(out), "cache")
        with open(os.path.join(out, log), "wb") as file:
            try:
                subprocess.run([sys.executable] + words, env=settings, stdout=file, stderr=file, timeout=limit)
                return True
            except subprocess.TimeoutExpired:
                return False

    def files(pattern):
        return sorted(glob.glob(os.path.join(out, pattern), recursive=True), key=os.path.getmtime)

    def lines_of(log):
        with open(os.path.join(out, log), errors="replace") as file:
            return [line.strip(" >\n") for line in file if line.strip(" >\n")]

    def minified():
        run([path], "script.log", options["run_limit"], TORCH_COMPILE_DEBUG_DIR=os.path.join(out, "first"), **options["variables"])
        launchers = files("first/**/minifier_launcher.py")
        if not launchers:
            found["failed"] = "PyTorch wrote no launcher: it saw no graph of its own fail"
            return
        launcher = os.path.join(out, "launcher.py")
        with open(launchers[0]) as file:
            text = file.readlines()
        # What makes PyTorch write launchers would do so again, and hide differences from it.
        with open(launcher, "w") as file:
            file.writelines(line for line in text if not line.startswith("os.environ['TORCH"))
        found["nodes_before"] = _nodes("".join(text))
        words = [launcher, "minify", "--no-isolate"]
        if options["check"]:
            words += ["--check-str", options["check"]]
        begun = time.monotonic()
        ended = run(words, "minifier.log", options["limit"], TORCH_COMPILE_DEBUG_DIR=os.path.join(out, "second"))
        found["seconds"] = time.monotonic() - begun
        found["stopped"] = not ended
        results = files("second/**/checkpoints/*.py")
        if not results:
            lines = lines_of("minifier.log")
            if any("did not fail the tester" in line for line in lines):
                found["failed"] = "the graph alone does not fail"
            elif not ended:
                found["failed"] = "it found no smaller graph within its limit"
            else:
                found["failed"] = "it ended without a result: " + (lines or ["no output"])[-1][:200]
            return
        with open(results[-1]) as file:
            text = file.read()
        with open(os.path.join(out, "graph.py"), "w") as file:
            file.write(text)
        found["nodes_after"] = _nodes(text)
        try:
            found["program"] = _plain(text, options)
        except Exception as error:
            found["failed"] = "its result has no plain form: " + str(error)[:200]

    try:
        minified()
    finally:
        with open(os.path.join(out, "findings.json"), "w") as file:
            json.dump(found, file)


def _forward(tree):
    """The function of the graph in a file of PyTorch's minifier, and the statements that set it up."""
    import ast

    kind = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Repro")
    by_name = {each.name: each for each in kind.body if isinstance(each, ast.FunctionDef)}
    return by_name["forward"], by_name["__init__"].body


def _statements(function):
    """The statements of a graph without those that only forget values."""
    import ast

    def forgets(each):
        return isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is None

    return [each for each in function.body if not forgets(each)]


def _nodes(text):
    """The number of operations of the graph in a file."""
    import ast

    return len(_statements(_forward(ast.parse(text))[0])) - 1


def _plain(text, options):
    """A file of PyTorch's minifier as a script that compiles a function."""
    import ast

    accuracy = options["accuracy"]

    import torch
    from torch._dynamo.debug_utils import InputReader

    tree = ast.parse(text)
    function, setup = _forward(tree)
    if len(setup) > 1 or any(isinstance(each, ast.Name) and each.id == "self" for each in ast.walk(function)):
        raise ValueError("the graph has constants or graphs of its own")
    function.name = "f"
    function.args.args = [ast.arg(arg=each.arg) for each in function.args.args[1:]]
    function.returns = None
    function.body = _statements(function)
    # Sizes have names at the top of the file.
    named = [each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)]
    sizes = [each for each in named if isinstance(each.value, ast.Constant) and isinstance(each.value.value, int)]
    loader = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "load_args")
    space = {"torch": torch, "device": torch.device}
    exec(compile(ast.Module(sizes + [loader], []), "<minrepro>", "exec"), space)
    call = next(each for each in ast.walk(tree) if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "run_repro")
    settings = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    reader = InputReader(save_dir=settings["save_dir"] if accuracy else None)
    space["load_args"](reader)
    dynamic = settings.get("tracing_mode") == "symbolic" or any(isinstance(each, int) for each in reader.args)
    sizes = _sizes([each.arg for each in function.args.args], reader.args)
    for name, source in sizes.items():
        function.body.insert(0, ast.parse(name + " = " + source).body[0])
    given = [(each, value) for each, value in zip(function.args.args, reader.args) if each.arg not in sizes]
    function.args.args = [each for each, _ in given]
    inputs = ", ".join(_input(value, accuracy) for _, value in given)
    names = ast.walk(function)
    settings_of = sorted({each.split(".config.")[0] + ".config" for each in options["settings"]})
    header = ["import torch"] + ["import " + each for each in settings_of] + options["settings"]
    header += ["device = torch.device"] if any(isinstance(each, ast.Name) and each.id == "device" for each in names) else []
    header += ["torch.manual_seed(0)"] if accuracy and "torch.rand" in inputs else []
    compiled = "torch.compile(f" + (", dynamic=True" if dynamic else "") + ")"
    if accuracy:
        last = ["inputs = [" + inputs + "]", "torch.testing.assert_close(" + compiled + "(*inputs), f(*inputs))"]
    else:
        last = [compiled + "(" + inputs + ")"]
    parts = ["\n".join(header), ast.unparse(ast.fix_missing_locations(function)), "\n".join(last)]
    return "\n\n".join(parts) + "\n"


def _sizes(names, values):
    """The inputs of a graph that are numbers and may be sizes of others, each with that size as source.
    The minifier forgets which are, so equal numbers count; the script is run to see whether it holds."""
    found = {}
    for name, value in zip(names, values):
        for owner, other in zip(names, values):
            shape = getattr(other, "shape", ())
            if isinstance(value, int) and value in shape:
                found.setdefault(name, owner + ".shape[" + str(list(shape).index(value)) + "]")
    return found


def _input(value, exact):
    """An input as source: its values where they matter and are few, random ones of its kind otherwise."""
    import torch

    if not isinstance(value, torch.Tensor):
        return repr(value)
    device = "" if value.device.type == "cpu" else ", device=" + repr(str(value.device))
    kind = "" if value.dtype == torch.float32 else ", dtype=" + str(value.dtype)
    shape = tuple(value.shape)
    if exact and value.numel() <= 16 and value.is_contiguous():
        return "torch.tensor(" + repr(value.tolist()) + ", dtype=" + str(value.dtype) + device + ")"
    maker = "rand" if value.dtype.is_floating_point or value.dtype.is_complex else "ones"
    if value.is_contiguous():
        return "torch." + maker + "(" + repr(shape) + kind + device + ")"
    length = 1 + sum((size - 1) * step for size, step in zip(shape, value.stride())) if value.numel() else 0
    return "torch." + maker + "(" + repr(length) + kind + device + ").as_strided(" + repr(shape) + ", " + repr(value.stride()) + ")"
