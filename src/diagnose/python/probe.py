"""Runs a script in this interpreter and writes down what cannot be read off its output: the failure
with the frames that PyTorch leaves out, what the compiler was working on, its graphs, and its
configuration. Sent as the script itself, which it replaces by the user's before it runs that."""


def _probe(source, options):
    import json, os, sys

    out = os.environ["MINREPRO_ARTIFACTS"]
    path = os.path.abspath(sys.argv[0])
    folder = os.path.dirname(path)
    with open(path, "wb") as file:
        file.write(source)
    os.environ["TORCH_TRACE"] = os.path.join(out, "trace")
    # A graph that was compiled before is not compiled again, and so not looked at. Without a cache
    # PyTorch wraps errors in other classes.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.path.dirname(out), "cache")
    os.environ["TORCHDYNAMO_VERBOSE"] = "1"
    findings = {"folder": folder}

    def write():
        # Renamed into place: a crash in the middle must not leave half a file.
        with open(os.path.join(out, "findings.part"), "w") as file:
            json.dump(findings, file, default=repr)
        os.replace(file.name, os.path.join(out, "findings.json"))

    def library():
        torch = sys.modules.get("torch")
        file = getattr(torch, "__file__", None)
        return os.path.dirname(os.path.dirname(file)) + os.sep if file else None

    def short(file):
        root = library()
        if file.startswith(folder + os.sep):
            return os.path.relpath(file, folder)
        return file[len(root) :] if root and file.startswith(root) else file

    def is_own(file):
        return file.startswith(folder + os.sep)

    def place(file, line, function="", code=None):
        import linecache

        text = linecache.getline(file, line).strip() if code is None else code
        return {"file": short(file), "line": line, "function": function, "code": text, "own": is_own(file)}

    def own_lines(node):
        """The places in the script that a node of a graph comes from, innermost last."""
        import re

        text = getattr(node, "stack_trace", None) or getattr(node, "meta", {}).get("stack_trace") or ""
        found = re.findall(r'File "([^"]+)", line (\d+)(?:, in (\S+))?', text)
        return [place(file, int(line), name) for file, line, name in found if is_own(file)]

    def about_node(node):
        return {
            "name": str(node.name),
            "target": str(node.target),
            "places": own_lines(node),
        }

    def lowering(target):
        try:
            from torch._inductor.lowering import lowerings

            function = lowerings.get(target)
            while hasattr(function, "__wrapped__"):
                function = function.__wrapped__
            code = function.__code__
            return place(code.co_filename, code.co_firstlineno, function.__qualname__)
        except Exception:
            return None

    def working_on(frame, found):
        """Adds what a frame of the compiler was working on; inner frames come first."""
        for value in list(frame.f_locals.values()):
            kind = type(value)
            module = getattr(kind, "__module__", "") or ""
            if not module.startswith("torch."):
                continue
            try:
                is_run = frame.f_code.co_name in ("run_node", "call_function", "call_method", "call_module")
                is_node = kind.__name__ == "Node" and module == "torch.fx.node"
                if is_node and is_run and value.op.startswith("call") and "node" not in found:
                    found["node"] = dict(about_node(value), lowering=lowering(value.target))
                elif module.startswith("torch._inductor.") and "origins" not in found:
                    inner = getattr(value, "node", value)
                    origins = getattr(inner, "get_origins", lambda: None)() or getattr(inner, "origins", None)
                    if origins:
                        found["origins"] = [about_node(each) for each in sorted(origins, key=str)]
                if hasattr(value, "current_instruction") and hasattr(value, "f_code"):
                    file = value.f_code.co_filename
                    if "instruction" not in found or (is_own(file) and not found["instruction"]["own"]):
                        instruction = value.current_instruction
                        at = place(file, value.lineno, value.f_code.co_name)
                        found["instruction"] = dict(at, opcode=instruction.opname, argument=repr(instruction.argval)[:80])
                if module.startswith("torch._dynamo.variables.") and hasattr(kind, "as_proxy") and "variable" not in found:
                    found["variable"] = kind.__name__
            except Exception:
                continue

    def about_exception(error):
        frames, found = [], {}
        step = error.__traceback__
        steps = []
        while step is not None:
            steps.append(step)
            step = step.tb_next
        for step in steps:
            code = step.tb_frame.f_code
            if code.co_filename != "<minrepro>":
                frames.append(place(code.co_filename, step.tb_lineno, code.co_name))
        for step in reversed(steps):
            working_on(step.tb_frame, found)
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
        stack = [place(each.filename, each.lineno, each.name) for each in getattr(error, "real_stack", None) or []]
        return {"class": name, "message": str(error), "frames": frames, "stack": stack, "working_on": found}

    def about_chain(error):
        chain = []
        while error is not None and len(chain) < 12:
            chain.append(about_exception(error))
            inner = getattr(error, "inner_exception", None)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__) or inner
        return chain

    def configurations():
        found = {}
        for name in ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config", "torch.fx.experimental._config"):
            module = sys.modules.get(name)
            try:
                values = (getattr(module, "get_config_copy", None) or module.shallow_copy_dict)()
                found[name] = {key: repr(value) for key, value in values.items()}
            except Exception:
                continue
        return found

    def fake_kernels(text):
        """Where the fake kernels of operators that a text names were registered."""
        import re

        found = []
        for space, name in re.findall(r"torch\.ops\.(\w+)\.(\w+)", text):
            try:
                from torch._library.custom_ops import OPDEFS
                from torch._library.simple_registry import singleton

                operator = space + "::" + name
                code = getattr(getattr(OPDEFS.get(operator), "_abstract_fn", None), "__code__", None)
                if code is not None:
                    at = place(code.co_filename, code.co_firstlineno, code.co_name)
                else:
                    file, line = singleton.find(operator).fake_impl.kernel.source.rsplit(":", 1)
                    at = place(file, int(line))
                found.append(dict(at, operator=operator))
            except Exception:
                continue
        return found

    def environment():
        import platform

        found = {"python": platform.python_version(), "platform": platform.platform(), "executable": sys.executable}
        try:
            import torch
        except BaseException as error:
            found["import_error"] = type(error).__name__ + ": " + str(error)
            return found
        import importlib

        # Imported here, so that the values are those of a process that has set nothing.
        for name in ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config", "torch.fx.experimental._config"):
            try:
                importlib.import_module(name)
            except Exception:
                pass
        def ask(key, function):
            try:
                value = function()
                found[key] = value if value is None else str(value)
            except Exception as error:
                found[key] = "could not be found: " + type(error).__name__
        from torch.utils import collect_env
        def version(package):
            from importlib import metadata
            try:
                return metadata.version(package)
            except metadata.PackageNotFoundError:
                return None
        ask("torch", lambda: torch.__version__)
        ask("commit", lambda: torch.version.git_version)
        ask("debug", lambda: torch.version.debug)
        ask("cuda", lambda: torch.version.cuda)
        ask("hip", lambda: torch.version.hip)
        ask("devices", lambda: ", ".join(torch.cuda.get_device_name(at) for at in range(torch.cuda.device_count())) or None)
        ask("triton", lambda: version("triton") or version("pytorch-triton"))
        ask("numpy", lambda: version("numpy"))
        ask("compiler", lambda: collect_env.get_gcc_version(collect_env.run))
        ask("clang", lambda: collect_env.get_clang_version(collect_env.run))
        ask("libc", lambda: " ".join(platform.libc_ver()))
        ask("cpu", torch.backends.cpu.get_cpu_capability)
        ask("cores", os.cpu_count)
        ask("threads", torch.get_num_threads)
        ask("location", lambda: os.path.dirname(torch.__file__))
        return found

    def known_graphs():
        """Has the compiler's graphs written down as it gets them."""
        try:
            from torch._inductor import compile_fx
        except Exception:
            return
        if not hasattr(compile_fx, "_compile_fx_inner"):
            return
        original = compile_fx._compile_fx_inner
        graphs = findings.setdefault("graphs", [])

        def compile_fx_inner(gm, example_inputs, **settings):
            nodes = [about_node(node) for node in gm.graph.nodes if node.op == "call_function"]
            graphs.append({"backward": bool(settings.get("is_backward")), "nodes": nodes})
            write()
            return original(gm, example_inputs, **settings)

        compile_fx._compile_fx_inner = compile_fx_inner

    if options["what"] == "environment":
        findings["environment"] = environment()
        findings["configurations"] = configurations()
        write()
        return
    known = sys.modules["__main__"].__dict__
    for name in list(known):
        if not name.startswith("__"):
            del known[name]
    sys.path[0] = folder

    class Watch:
        """Prepares PyTorch as soon as it has been imported."""

        def find_spec(self, name, path=None, target=None):
            if name == "torch._inductor.compile_fx":
                sys.meta_path.remove(self)
                import importlib.util

                spec = importlib.util.find_spec(name)
                load = spec.loader.exec_module

                def exec_module(module):
                    load(module)
                    prepare()

                spec.loader.exec_module = exec_module
                return spec
            return None

    prepare = known_graphs if options["what"] == "failure" else lambda: measured_graphs(findings, write, own_lines)
    sys.meta_path.insert(0, Watch())
    status = 0
    try:
        exec(compile(source, path, "exec"), known)
    except SystemExit as error:
        findings["exit"] = repr(error.code)
        status = error.code
    except BaseException as error:
        step = error.__traceback__
        while step is not None and step.tb_frame.f_code.co_filename == "<minrepro>":
            step = step.tb_next
        error.__traceback__ = step
        findings["exceptions"] = about_chain(error)
        findings["fake_kernels"] = fake_kernels(str(error))
        sys.excepthook(type(error), error, step)
        status = 1
    finally:
        findings["configurations"] = configurations()
        write()
    sys.exit(status)
