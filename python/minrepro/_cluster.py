"""Runs commands of minrepro on the nodes of a Ray cluster. Judges nothing, and schedules nothing that Ray does not.

The program starts ``python -m minrepro._cluster FILE`` with its jobs as JSON in the file, and reads
one line of JSON for each thing that happens. A job is a folder and the arguments of a command that
runs in a copy of it. While the command runs, the files that it writes come back, its journals among
them: if its node dies, the job goes on elsewhere from there. When standard input ends, so does
everything else.
"""

import hashlib
import json
import os
import random
import socket
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Tuple

from ._worker import Announcement, Change, Ended, Refused, announce, run_job

#: How many nodes may die under one job before it is given up.
LOSSES = 5

#: Seconds in which a node says what it has.
ANSWER = 120

#: Seconds in which a cluster takes a connection.
PATIENCE = 10

Emit = Callable[[Mapping[str, Any]], None]


class ClusterError(Exception):
    """The cluster cannot be used at all."""


@dataclass
class _Job:
    name: str
    folder: Path
    arguments: List[str]
    #: The key of its folder on a node: the same for every try, also after a restart.
    key: str
    #: The kinds of nodes on which it was refused.
    refused: Set[Tuple[Any, ...]] = field(default_factory=set)
    losses: int = 0
    #: The node that runs it.
    node: str = ""
    ended: Optional[Ended] = None


def main() -> int:
    """Serves one request."""
    # Only lines of ours may reach the program; whatever else prints, Ray included, goes to standard error.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    guard = threading.Lock()

    def emit(event: Mapping[str, Any]) -> None:
        with guard:
            print(json.dumps(event), file=lines, flush=True)

    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    threading.Thread(target=_end_with_the_program, daemon=True).start()
    try:
        Cluster(request["address"], request["cpus"], request["version"], emit).work(request["jobs"])
    except ClusterError as error:
        emit({"event": "failed", "message": str(error)})
        return 1
    return 0


def _end_with_the_program() -> None:
    """Waits for the end of the program. The workers of a driver that is gone are stopped by Ray."""
    sys.stdin.read()
    os._exit(1)


class Cluster:
    """The nodes, and the jobs that run there."""

    def __init__(self, address: str, cpus: int, version: str, emit: Emit) -> None:
        try:
            import ray
        except ImportError as error:
            raise ClusterError(f"Ray cannot be imported: {error}") from error
        self._ray: Any = ray
        self._cpus = cpus
        self._version = version
        self._emit = emit
        self._kinds: Dict[str, Announcement] = {}
        _check_reachable(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ClusterError(f"there is no Ray cluster at {address}: {error}") from error

    def work(self, jobs: List[Dict[str, Any]]) -> None:
        """Runs all jobs, each to its end."""
        self._ask(self._alive())
        fitting = [kind for kind in self._kinds.values() if kind.fits(self._version)]
        if not fitting:
            raise ClusterError(f"no node has {self._version}: install the same version on each")
        if all(kind.cpus < self._cpus for kind in fitting):
            # Ray would wait for such a node.
            raise ClusterError(f"no node has {self._cpus} cores, which `--jobs` asks for")
        running: Dict[Any, _Job] = {}
        for described in jobs:
            job = _read(described)
            running[self._started(job, None)] = job
        while running:
            (ready, *_), _ = self._ray.wait(list(running), num_returns=1, fetch_local=False)
            job = running.pop(ready)
            again = self._step(ready, job)
            if again is not None:
                running[again] = job

    def _step(self, stream: Any, job: _Job) -> Optional[Any]:
        """Takes what a job sent; returns where the next is to be awaited, or nothing if it has ended."""
        try:
            sent = self._ray.get(next(stream))
        except StopIteration:
            return self._over(job)
        except self._ray.exceptions.RayTaskError as error:
            self._end(job, Ended(None, "", str(error)))
            return None
        except self._ray.exceptions.RayError as error:
            return self._lost(job, error)
        if isinstance(sent, str):
            job.node = sent
            self._emit({"event": "started", "job": job.name, "node": sent})
        elif isinstance(sent, Change):
            sent.apply(job.folder)
        elif isinstance(sent, Ended):
            job.ended = sent
        elif isinstance(sent, Refused):
            job.ended = Ended(None, "", sent.why)
        return stream

    def _over(self, job: _Job) -> Optional[Any]:
        """A command has ended. What its node lacks, another may have."""
        ended = job.ended or Ended(None, "", "the command left no status")
        if ended.lacks_something:
            job.refused.add(self._kind(job.node).kind())
            others = [node for node in self._alive() if self._kind(node).kind() not in job.refused]
            fitting = [node for node in others if self._kind(node).fits(self._version)]
            if fitting:
                job.ended = None
                return self._started(job, random.choice(fitting))
        self._end(job, ended)
        return None

    def _lost(self, job: _Job, error: Exception) -> Optional[Any]:
        job.losses += 1
        self._emit({"event": "lost", "job": job.name, "node": job.node})
        if job.losses < LOSSES:
            return self._started(job, None)
        self._end(job, Ended(None, "", f"its node was lost {LOSSES} times: {error}"))
        return None

    def _end(self, job: _Job, ended: Ended) -> None:
        self._emit(
            {
                "event": "ended",
                "job": job.name,
                "node": job.node,
                "status": ended.status,
                "stdout": ended.stdout,
                "stderr": ended.stderr,
            }
        )

    def _started(self, job: _Job, node: Optional[str]) -> Any:
        """Gives a job to Ray, which chooses the node unless one is named."""
        task = self._ray.remote(run_job).options(
            num_cpus=self._cpus,
            num_returns="streaming",
            # Ray would begin with the files of the first try.
            max_retries=0,
            **self._on(node),
        )
        return task.remote(job.key, job.arguments, Change.whole(job.folder), self._version)

    def _on(self, node: Optional[str]) -> Dict[str, Any]:
        if node is None:
            return {}
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        return {"scheduling_strategy": strategy(node, soft=False)}

    def _alive(self) -> List[str]:
        return [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]

    def _kind(self, node: str) -> Announcement:
        """What a node has; it is asked once."""
        if node not in self._kinds:
            self._ask([node])
        return self._kinds[node]

    def _ask(self, nodes: List[str]) -> None:
        """Asks nodes what they have."""
        known = {node["NodeID"]: node for node in self._ray.nodes()}
        task = self._ray.remote(announce)
        asked = [
            task.options(num_cpus=0, max_retries=0, **self._on(node)).remote() for node in nodes
        ]
        for node, answer in zip(nodes, asked):
            try:
                said: Announcement = self._ray.get(answer, timeout=ANSWER)
            except self._ray.exceptions.RayError as error:
                said = Announcement("", [], f"it does not answer: {error}")
            said.describe(known[node])
            self._kinds[node] = said
            self._emit({"event": "node", "node": node, **said.shown(self._version)})


def _check_reachable(address: str) -> None:
    """Ray itself would try for many minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise ClusterError(f"there is no Ray cluster at {address}: {error}") from error


def _read(described: Mapping[str, Any]) -> _Job:
    folder = Path(described["folder"])
    key = hashlib.sha256(f"{os.uname().nodename}\n{folder}".encode()).hexdigest()[:24]
    return _Job(described["name"], folder, list(described["arguments"]), key)


if __name__ == "__main__":
    sys.exit(main())
