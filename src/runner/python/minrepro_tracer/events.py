"""How the interpreter reports to a tracer what runs: the script's own code, and a line of a library that is watched."""

import sys


def start_monitoring(tracer):
    """sys.monitoring, from CPython 3.12 on."""
    own = sys.monitoring
    covered = tracer.covered
    events = own.events
    tool = 4
    own.use_tool_id(tool, "minrepro")

    def on_start(code, offset):
        if not tracer.is_own(code):
            if covered.is_covered(code):
                covered.enter(sys._getframe(1))
            return own.DISABLE
        tracer.call(sys._getframe(1))

    def on_line(code, line):
        if covered.is_covered(code):
            covered.line(code, line)
        look = tracer.line if tracer.is_own(code) else tracer.come_by if tracer.is_watched(code) else None
        if look is None or not look(sys._getframe(1), line):
            return own.DISABLE

    def on_return(code, offset, value):
        if not tracer.is_own(code):
            return own.DISABLE
        tracer.leave(sys._getframe(1), value)

    def on_raise(code, offset, error):
        # This event cannot be switched off for single places.
        if tracer.is_own(code):
            tracer.raise_(error)
            tracer.turn(sys._getframe(1))

    def on_unwind(code, offset, error):
        if tracer.is_own(code):
            tracer.unwind(code)

    own.register_callback(tool, events.PY_START, on_start)
    own.register_callback(tool, events.LINE, on_line)
    own.register_callback(tool, events.PY_RETURN, on_return)
    own.register_callback(tool, events.RAISE, on_raise)
    own.register_callback(tool, events.PY_UNWIND, on_unwind)
    own.set_events(
        tool, events.PY_START | events.LINE | events.PY_RETURN | events.RAISE | events.PY_UNWIND
    )
    return lambda: own.free_tool_id(tool)


def start_settrace(tracer):
    """sys.settrace, before that."""
    import threading

    covered = tracer.covered
    raising = set()  # frames that an exception is in, and nothing has caught it yet

    def on_event(frame, event, arg):
        if event == "line":
            raising.discard(frame)
            if not tracer.line(frame, frame.f_lineno):
                frame.f_trace_lines = False
        elif event == "exception":
            tracer.raise_(arg[1])
            raising.add(frame)
        elif event == "return" and frame in raising:
            raising.discard(frame)
            tracer.unwind(frame.f_code)
        elif event == "return":
            tracer.leave(frame, arg)
        return on_event

    def on_event_in_library(frame, event, arg):
        if event == "line" and covered.is_covered(frame.f_code) and not covered.line(frame.f_code, frame.f_lineno):
            frame.f_trace_lines = tracer.is_watched(frame.f_code)
        if event == "line" and tracer.is_watched(frame.f_code):
            tracer.come_by(frame, frame.f_lineno)
        return on_event_in_library

    def on_call(frame, event, arg):
        if event == "call" and not tracer.is_own(frame.f_code):
            is_covered = covered.is_covered(frame.f_code)
            if is_covered:
                covered.enter(frame)
            return on_event_in_library if is_covered or tracer.is_watched(frame.f_code) else None
        if event != "call" or not tracer.is_own(frame.f_code):
            return None
        tracer.line(frame, frame.f_lineno)
        tracer.call(frame)
        return on_event

    sys.settrace(on_call)
    threading.settrace(on_call)
    return lambda: sys.settrace(None)
