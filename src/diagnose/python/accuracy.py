"""Finds the first node of a graph whose compiled result is further from the truth than the plain one.
The truth is the graph in double precision. Works on the graphs that the compiler is given, forward
and backward, with the tensors of their first call. Belongs to probe.py."""

# A compiled result counts as wrong if it is so many times further off than the plain one, and by
# more than this share of the size of the truth.
_TIMES, _SHARE = 10.0, 1e-4
# Prefixes that are compiled one by one, at most.
_PREFIXES = 12


def measured_graphs(findings, write, own_lines):
    import torch
    from torch._inductor import compile_fx

    original = compile_fx._compile_fx_inner
    whole = compile_fx.compile_fx_inner
    measures = findings.setdefault("accuracy", [])
    state = {"measuring": False}

    def compile_fx_inner(gm, example_inputs, **settings):
        import copy

        if state["measuring"]:
            return original(gm, example_inputs, **settings)
        plain = copy.deepcopy(gm)
        compiled = original(gm, example_inputs, **settings)
        if settings.get("aot_mode") or not callable(compiled):
            return compiled
        context = torch._guards.TracingContext.try_get()
        known = {"done": False}

        def call(inputs):
            if known["done"]:
                return compiled(inputs)
            known["done"] = True
            kept = [each.detach().clone() if isinstance(each, torch.Tensor) else each for each in inputs]
            result = compiled(inputs)
            measure = {"backward": bool(settings.get("is_backward"))}
            measures.append(measure)
            state["measuring"] = True
            try:
                with torch.no_grad(), torch._guards.tracing(context):
                    measure.update(_measure(plain, kept, example_inputs, settings, whole, own_lines))
            except Exception as error:
                measure["failed"] = type(error).__name__ + ": " + str(error)[:300]; import traceback; traceback.print_exc()
            finally:
                state["measuring"] = False
            write()
            return result

        call._boxed_call = True
        return call

    compile_fx._compile_fx_inner = compile_fx_inner


def _measure(gm, inputs, example_inputs, settings, compile_inner, own_lines):
    import copy, torch

    plain = _values(gm, inputs)
    truth, how = _in_double(gm, inputs)
    nodes = [node for node in gm.graph.nodes if node.op == "call_function" and isinstance(plain.get(node.name), torch.Tensor)]
    tried = []

    def wrong(names, nodes):
        """The compiled values of some nodes, each with how wrong it is."""
        part = copy.deepcopy(gm)
        by_name = {node.name: node for node in part.graph.nodes}
        for node in list(part.graph.nodes):
            if node.op == "output":
                node.args = (tuple(by_name[name] for name in names),)
                node.meta.pop("original_output_strides", None)
        part.graph.eliminate_dead_code()
        part.recompile()
        compiled = compile_inner(part, list(example_inputs), **settings)
        copies = [each.clone() if isinstance(each, torch.Tensor) else each for each in inputs]
        values = compiled(copies)
        return {name: _apart(value, plain[name], truth.get(name)) for name, value in zip(names, values)}

    def described(node, found, how_found):
        off, usual, size = found
        return {
            "first": {"name": node.name, "target": str(node.target), "places": own_lines(node),
                      "inputs": [each.name for each in node.all_input_nodes], "off": off, "usual": usual, "size": size},
            "by": how_found, "reference": how, "nodes": len(nodes),
        }

    order = [node.name for node in nodes]
    found = wrong(order, nodes)
    for node in nodes:
        if _is_wrong(found[node.name]):
            return described(node, found[node.name], "all nodes as results of one compilation")
    # With all results kept nothing is wrong: what is wrong comes of what is fused. Each node as the
    # only result then, from the graph's own results backwards.
    low, high, last = 0, len(nodes) - 1, None
    while low <= high and len(tried) < _PREFIXES:
        middle = high if last is None and not tried else (low + high) // 2
        tried.append(middle)
        apart = wrong([order[middle]], nodes)[order[middle]]
        if _is_wrong(apart):
            last, high = (nodes[middle], apart), middle - 1
        elif not last:
            break
        else:
            low = middle + 1
    if last:
        return described(last[0], last[1], "each node as the only result of a compilation")
    return {"first": None, "reference": how, "nodes": len(nodes)}


def _values(gm, inputs):
    """The value of each node of a graph, computed one by one."""
    import torch

    values = {}

    class Record(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if isinstance(value, torch.Tensor):
                values[node.name] = value.clone()
            return value

    Record(gm, garbage_collect_values=False).run(*[each.clone() if isinstance(each, torch.Tensor) else each for each in inputs])
    return values


def _in_double(gm, inputs):
    """The values in double precision, and how they were found."""
    import copy, torch

    try:
        from torch._dynamo.debug_utils import cast_to_fp64

        double, cast = cast_to_fp64(copy.deepcopy(gm), tuple(each.clone() if isinstance(each, torch.Tensor) else each for each in inputs))
        return _values(double, list(cast)), "double precision"
    except Exception as error:
        return {}, "the plain result: in double precision the graph fails (" + type(error).__name__ + ")"


def _apart(value, plain, truth):
    """How far a compiled and a plain value are from the truth, and the size of the truth."""
    import torch

    truth = plain if truth is None or truth.shape != plain.shape else truth
    if value.shape != plain.shape:
        return [float("inf"), 0.0, 1.0]
    wide = torch.complex128 if truth.is_complex() else torch.float64
    value, plain, truth = (each.detach().to(wide) for each in (value, plain, truth))

    def far(each):
        same = (each == truth) | (each.isnan() & truth.isnan())
        gap = torch.where(same, torch.zeros_like(truth), each - truth).abs()
        return float(gap.nan_to_num(nan=float("inf")).max()) if gap.numel() else 0.0

    finite = truth[truth.isfinite()].abs() if truth.numel() else truth
    return [far(value), far(plain), float(finite.max()) if finite.numel() else 1.0]


def _is_wrong(apart):
    off, usual, size = apart
    return off > _TIMES * usual and off > _SHARE * max(size, 1e-12)
