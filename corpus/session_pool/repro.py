"""Session pool with retries.

The `session()` context manager is meant to run the body again with another connection if the
server hangs up. It worked in our tests (which never fail inside the body, it turns out...).
"""
import abc
import collections
import contextlib
import copy
import datetime as dt
import functools
import inspect
import logging
import queue
import random
import socket
import sys
import threading
import uuid
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

logging.basicConfig(level=logging.CRITICAL, stream=sys.stdout)
log = logging.getLogger(__name__)

MAX_ATTEMPTS: int = 3
RETRY_ON: Tuple[type, ...] = (ConnectionError, TimeoutError, socket.timeout, ValueError)

REPLIES: Dict[str, List[str]] = {
    "PING": ["PONG"],
    "COUNT users": ["42"],
    "COUNT orders": ["n/a", "1017"],
    "LIST tables": ["users", "orders", "products"],
    "VERSION": ["9.1"],
}


class PoolExhausted(Exception):
    pass


class Address(NamedTuple):
    host: str = "localhost"
    port: int = 7001

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Transport(abc.ABC):
    """What a connection talks through."""

    @abc.abstractmethod
    def ask(self, question: str) -> str:
        ...

    def close(self) -> None:
        pass


class Canned(Transport):
    """Answers from a table, for the tests."""

    def __init__(self, replies: Dict[str, List[str]]) -> None:
        self.replies = copy.deepcopy(replies)
        self.asked: "collections.Counter[str]" = collections.Counter()

    def ask(self, question: str) -> str:
        self.asked[question] += 1
        answers = self.replies[question]
        return answers[(self.asked[question] - 1) % len(answers)]


class Connection:
    def __init__(self, address: Address, transport: Transport) -> None:
        self.id = uuid.UUID(int=random.Random(address.port).getrandbits(128))
        self.address = address
        self.transport = transport
        self.opened = dt.datetime(2024, 2, 29, 12, 0)
        self.broken = False

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, kind, value, traceback) -> None:
        self.transport.close()

    def ping(self) -> bool:
        return self.transport.ask("PING") == "PONG"

    def count(self, table: str) -> int:
        return int(self.transport.ask(f"COUNT {table}"))

    def tables(self) -> Iterator[str]:
        for _ in range(3):
            yield self.transport.ask("LIST tables")


def synchronized(method):
    @functools.wraps(method)
    def locked(self, *args: Any, **kwargs: Any):
        with self.lock:
            return method(self, *args, **kwargs)

    return locked


class Pool:
    def __init__(self, addresses: List[Address], transport: Optional[Transport] = None) -> None:
        self.lock = threading.RLock()
        self.idle: "queue.LifoQueue[Connection]" = queue.LifoQueue()
        self.transport = transport or Canned(REPLIES)
        for address in addresses:
            self.idle.put(Connection(address, self.transport))

    @synchronized
    def acquire(self) -> Connection:
        try:
            connection = self.idle.get_nowait()
        except queue.Empty:
            raise PoolExhausted("no connection left") from None
        if not connection.ping():
            connection.broken = True
        return connection

    @synchronized
    def release(self, connection: Connection) -> None:
        if not connection.broken:
            self.idle.put(connection)

    def __len__(self) -> int:
        return self.idle.qsize()

    @contextmanager
    def session(self, attempts: int = MAX_ATTEMPTS) -> Iterator[Connection]:
        """A connection for a while; another one if it breaks."""
        for attempt in range(attempts):
            connection = self.acquire()
            try:
                log.debug("attempt %d on %s", attempt, connection.address)
                yield connection
                break
            except RETRY_ON as error:
                log.info("%s failed: %s", connection.id, error)
            finally:
                self.release(connection)


class Report:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.rows: List[Tuple[str, Union[int, str]]] = []

    def table(self, name: str) -> int:
        with self.pool.session() as connection, nullcontext():
            self.rows.append((name, connection.count(name)))
        return self.rows[-1][1]

    def overview(self) -> None:
        with ExitStack() as stack:
            connection = stack.enter_context(self.pool.session(attempts=1))
            for name in connection.tables():
                self.rows.append((name, "?"))

    def write(self, width: int = 12) -> None:
        for name, count in self.rows:
            print(f"{name:<{width}}{count!s:>6}")


def main() -> None:
    pool = Pool([Address(port=7001 + number) for number in range(3)])
    report = Report(pool)
    assert inspect.isgeneratorfunction(inspect.unwrap(Pool.session))
    with redirect_stdout(sys.stderr):
        report.overview()
        for name in ("users", "orders"):
            print(name, report.table(name))
    report.write()
    print(len(pool), "idle")


main()
