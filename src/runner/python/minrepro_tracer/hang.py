"""Notes where a script hangs when its supervisor asks: a thread that the script does not see waits for the question."""

import os
import sys

from .tracer import LOOP

LOOKS = 20  # at a script that computes, to see which of its frames stay
BETWEEN = 0.01  # seconds from one to the next
HIGH = 200  # the script's own files get the numbers that they always get


def answer(tracer, question):
    """Begins to wait for a byte in a named pipe; the pipe goes when the answer is written."""
    import _thread
    import fcntl

    os.mkfifo(question)
    # Open for writing, too, it has no end before there is a question.
    first = os.open(question, os.O_RDWR)
    pipe = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(first)

    def wait():
        os.read(pipe, 1)
        try:
            note(tracer)
            tracer.save(tracer.out)
        finally:
            os.unlink(question)

    _thread.start_new_thread(wait, ())


def note(tracer):
    """Takes the stack of the main thread for that of a failure, and those of others for what it came from."""
    import threading
    import _thread

    main = threading.main_thread().ident
    places = looping(tracer, main)
    frames = sys._current_frames()
    others = [frames[thread] for thread in frames if thread not in (main, _thread.get_ident())]
    tracer.failure = tracer.frames_at(places)
    found = [tracer.frames_at(stack) for stack in tasks(places) + [tracer.stack(frame) for frame in others]]
    found = [frames for frames in found if frames]
    if not tracer.failure and found:
        # The main thread waits for others at its end.
        tracer.failure = found.pop(0)
    tracer.causes = found


def looping(tracer, main):
    """Where the main thread is; if it goes round in a loop, down to that loop."""
    import time

    before = dict(tracer.hits)
    looks = []
    for _ in range(LOOKS):
        looks.append(tracer.stack(sys._current_frames()[main]))
        time.sleep(BETWEEN)
    repeated = {line for line, count in dict(tracer.hits).items() if count != before.get(line)}
    # A function begins on a line that belongs to the code around it as well.
    repeated -= set(tracer.entered)
    shared = 0
    for frames in zip(*looks):
        if any(place[0] is not frames[0][0] for place in frames):
            break
        shared += 1
    last = looks[-1]
    own = [at for at in range(shared) if tracer.is_own(last[at][0].f_code)]
    # Lines that are left alone are not counted any more, but what runs there moves.
    is_moving = len({(len(look), look[-1][2]) for look in looks}) > 1
    for at in own:
        frame = last[at][0]
        lines = repeated.intersection(lines_of(frame.f_code))
        moves = len({look[at][2] for look in looks}) > 1 or is_moving and at == own[-1]
        if lines or moves:
            lines |= {look[at][1] for look in looks}
            loop = tracer.source.loop_around(lines) if None not in lines else None
            return last if loop is None else last[:at] + [(frame, loop, LOOP)]
    return last


def lines_of(code):
    """The lines of a function."""
    import dis

    return {line for _, line in dis.findlinestarts(code)}


def tasks(places):
    """What the tasks of an event loop wait for that runs in some frames: the frames of each, outermost first."""
    asyncio = sys.modules.get("asyncio")
    loops = [frame.f_locals.get("self") for frame, _, _ in places if frame.f_code.co_name == "run_forever"]
    if asyncio is None or not loops:
        return []
    found = []
    for task in asyncio.all_tasks(loops[-1]):
        stack = []
        coroutine = task.get_coro()
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None)
            if frame is not None:
                stack.append((frame, frame.f_lineno, frame.f_lasti))
            coroutine = getattr(coroutine, "cr_await", None)
        found.append(stack)
    return found
