"""Runs a script as `__main__` under a tracer; what it prints and how it ends stays as it is."""

import os
import sys

from .compiler import OWN_MODULES
from .hang import answer
from .last_lines import LastLines
from .reruns import forward_lines, module, run_eagerly, run_recorded
from .source import Source
from .tracer import Tracer

OWN_MODULES += [module for name, module in sys.modules.items() if name.partition(".")[0] == __package__]


def main():
    import json
    import threading
    import time

    out, sought, crash_stack, covered, question, last, script = sys.argv[1:8]
    del sys.argv[:7]
    sys.path_importer_cache.pop(sys.path[0], None)
    sys.path[0] = os.path.dirname(script)
    with open(script, "rb") as file:
        source = file.read()
    code = compile(source, script, "exec", dont_inherit=True)
    tracer = Tracer(script, Source(source), json.loads(covered))
    tracer.namespace = module(script)
    tracer.sought = json.loads(sought)
    tracer.out = out
    # Each run has a folder of its own.
    own = script.split("/")[-2:]
    tracer.crash_stack = [line for file, line in json.loads(crash_stack) if file.split("/")[-2:] == own]
    if tracer.sought:
        tracer.listen()

    def in_thread(args, report=threading.excepthook):
        if not tracer.failure:
            tracer.failed(args.exc_value, args.exc_traceback)
        report(args)

    threading.excepthook = in_thread
    if last:
        tracer.last = LastLines(last)
    if question:
        answer(tracer, question)
    began = time.monotonic()
    stop = tracer.start()
    try:
        exec(code, tracer.namespace)
    except SystemExit:
        stop()
        tracer.save(out)
        raise
    except BaseException as error:
        stop()
        failed = error
        # Further runs may replace the hook.
        report = sys.excepthook
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not code:
            traceback = traceback.tb_next
        failed.__traceback__ = traceback
        tracer.failed(error, traceback)
    else:
        failed = None
        # Threads that go on are a part of the run.
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        stop()
    seconds = time.monotonic() - began
    tracer.save(out)
    if failed is not None and "torch._dynamo.convert_frame" not in sys.modules:
        try:
            run_recorded(tracer, failed, seconds)
        except Exception:
            pass
        tracer.save(out)
    if "torch" in sys.modules:
        try:
            forward = forward_lines(script, code) if tracer.goes_back else []
            if forward or "torch._dynamo.convert_frame" in sys.modules:
                run_eagerly(tracer, code, *tracer.compiled(failed), forward)
        except Exception:
            pass
        tracer.save(out)
    if failed is not None:
        report(type(failed), failed, failed.__traceback__)
        sys.exit(1)
