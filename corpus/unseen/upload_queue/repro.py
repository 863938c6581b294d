"""Upload queue: a few worker threads, a limit per host, retries.

The transport is faked so that it runs anywhere. Expected: 6 uploads, the
broken one given up after its retries. Instead even the photo that only
needs a second attempt is lost, with a message about semaphores.
"""
import hashlib
import logging
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from queue import Empty, PriorityQueue

logger = logging.getLogger(__name__)


class State(Enum):
    WAITING = auto()
    DONE = auto()
    FAILED = auto()


class TransportError(Exception):
    def __init__(self, host, code):
        super().__init__(f"{host} answered {code}")
        self.code = code


@dataclass(order=True)
class Task:
    priority: int
    name: str
    host: str = field(compare=False)
    payload: bytes = field(compare=False, repr=False)
    attempts: int = field(default=0, compare=False)
    state: State = field(default=State.WAITING, compare=False)

    @property
    def digest(self):
        return hashlib.sha256(self.payload).hexdigest()[:8]


class FakeTransport:
    """Answers 503 for what is on the list, as often as it says there."""

    def __init__(self, troubles):
        self.troubles = dict(troubles)
        self.sent = []
        self.lock = threading.Lock()

    def send(self, task):
        with self.lock:
            left = self.troubles.get(task.name, 0)
            if left:
                self.troubles[task.name] = left - 1
                raise TransportError(task.host, 503)
            self.sent.append((task.name, task.digest))
        return len(task.payload)


class HostLimits:
    def __init__(self, per_host=1):
        self.per_host = per_host
        self.semaphores = {}
        self.lock = threading.Lock()

    def of(self, host):
        with self.lock:
            if host not in self.semaphores:
                self.semaphores[host] = threading.BoundedSemaphore(self.per_host)
            return self.semaphores[host]


class Stopwatch:
    def __init__(self):
        self.laps = {}

    @contextmanager
    def lap(self, name):
        start = time.perf_counter()
        try:
            yield
        finally:
            self.laps[name] = time.perf_counter() - start


class Uploader:
    max_attempts = 3

    def __init__(self, transport, limits, workers=2):
        self.transport = transport
        self.limits = limits
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="upload")
        self.futures: dict[Future, Task] = {}
        self.bytes = 0

    def _attempt(self, task):
        slot = self.limits.of(task.host)
        slot.acquire()
        try:
            task.attempts += 1
            size = self.transport.send(task)
        except TransportError as error:
            logger.info("%s: %s", task.name, error)
            slot.release()
            return None
        finally:
            slot.release()
        return size

    def _work(self, task):
        while task.attempts < self.max_attempts:
            size = self._attempt(task)
            if size is not None:
                task.state = State.DONE
                return size
            time.sleep(0.001 * task.attempts)
        task.state = State.FAILED
        return 0

    def drain(self, queue):
        while True:
            try:
                task = queue.get_nowait()
            except Empty:
                break
            self.futures[self.pool.submit(self._work, task)] = task
            queue.task_done()

    def finish(self):
        wait(self.futures)
        self.pool.shutdown()
        for future, task in self.futures.items():
            error = future.exception()
            if error is None:
                self.bytes += future.result()
            yield task, error


def make_tasks(count, seed=11):
    chance = random.Random(seed)
    hosts = ["alpha.example", "beta.example"]
    for number in range(count):
        yield Task(
            priority=chance.randrange(3),
            name=f"photo{number:02}.jpg",
            host=hosts[number % len(hosts)],
            payload=chance.randbytes(chance.randint(100, 900)),
        )


def main():
    logging.basicConfig(level=logging.WARNING, format="%(threadName)s %(message)s")
    queue = PriorityQueue()
    for task in make_tasks(7):
        queue.put(task)
    transport = FakeTransport({"photo02.jpg": 1, "photo05.jpg": 9})
    # one worker, so that the report is the same each time; it is 8 at home
    uploader = Uploader(transport, HostLimits(), workers=1)
    watch = Stopwatch()
    with watch.lap("drain"):
        uploader.drain(queue)
    with watch.lap("finish"):
        for task, error in uploader.finish():
            if error:
                print(f"{task.name}: {type(error).__name__}: {error}")
            else:
                print(f"{task.name}: {task.state.name.lower()} after {task.attempts}")
    print(len(transport.sent), "sent,", uploader.bytes, "bytes")
    logger.debug("times: %s", watch.laps)


if __name__ == "__main__":
    main()
