"""The part of a Ray job that runs on a node: a command of minrepro in a copy of the job's folder."""

import ctypes
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from ._binary import find_binary

#: Seconds between two looks at the files that a command has changed.
PERIOD = 1.0

#: The exit status of a command for which something is missing on this machine.
ENVIRONMENT = 5

#: Larger files are not part of a job.
MOST = 64 << 20

#: What Ray sets for its workers, and what would change how scripts run.
OF_RAY = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")


@dataclass
class Announcement:
    """What a node has."""

    #: The version of minrepro.
    version: str
    #: The interpreters, each with its version.
    interpreters: List[Tuple[str, str]]
    #: Why minrepro cannot be used there.
    trouble: Optional[str] = None
    host: str = ""
    cpus: float = 0
    #: The accelerators, each with their number.
    devices: Dict[str, float] = field(default_factory=dict)

    def describe(self, node: Mapping[str, Any]) -> None:
        """Adds what Ray knows of the node."""
        resources = node["Resources"]
        self.host = node["NodeManagerHostname"]
        self.cpus = resources.get("CPU", 0)
        self.devices = {
            name.replace("accelerator_type:", ""): count
            for name, count in sorted(resources.items())
            if name == "GPU" or name.startswith("accelerator_type:")
        }

    def fits(self, version: str) -> bool:
        """Whether jobs of this version of minrepro can run there."""
        return self.trouble is None and self.version == version

    def kind(self) -> Tuple[Any, ...]:
        """Equal for nodes of which none can do what another cannot."""
        return (self.version, tuple(self.interpreters), tuple(self.devices))

    def shown(self, version: str) -> Dict[str, Any]:
        """For people."""
        trouble = self.trouble
        if trouble is None and self.version != version:
            trouble = f"it has {self.version}"
        return {
            "host": self.host,
            "cpus": self.cpus,
            "devices": self.devices,
            "interpreters": list(dict.fromkeys(version for version, _ in self.interpreters)),
            "trouble": trouble,
        }


@dataclass
class Ended:
    """The end of a command."""

    status: Optional[int]
    stdout: str
    stderr: str

    @property
    def lacks_something(self) -> bool:
        """Whether another machine may do better."""
        return self.status in (None, ENVIRONMENT)


@dataclass
class Refused:
    """A job that was not begun."""

    why: str


@dataclass
class Change:
    """What changed in a folder: files with their new bytes, each from an offset on, and files that are gone."""

    written: Dict[str, Tuple[int, bytes]] = field(default_factory=dict)
    gone: List[str] = field(default_factory=list)

    @classmethod
    def whole(cls, folder: Path) -> "Change":
        """All files of a folder."""
        return Watched(folder).change()

    def __bool__(self) -> bool:
        return bool(self.written or self.gone)

    def apply(self, folder: Path) -> None:
        """Makes the same change in another folder."""
        for name in self.gone:
            if (folder / name).is_file():
                (folder / name).unlink()
        for name, (offset, data) in self.written.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if offset:
                with open(path, "r+b") as file:
                    file.truncate(offset)
                    file.seek(offset)
                    file.write(data)
                continue
            fresh = path.with_name(f"{path.name}.coming")
            fresh.write_bytes(data)
            os.replace(fresh, path)


class Watched:
    """A folder whose changes are wanted. Links, virtual environments and huge files are no part of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: Dict[str, Tuple[Tuple[int, int], int, bytes]] = {}

    def change(self) -> Change:
        """What changed since the last time."""
        found = Change()
        names = set()
        for name, path in self._files():
            try:
                status = path.stat()
                stamp = (status.st_mtime_ns, status.st_size)
                known = self._known.get(name)
                names.add(name)
                if known and known[0] == stamp:
                    continue
                data = path.read_bytes()
            except OSError:
                # It was removed meanwhile.
                continue
            offset = 0
            # Journals grow: only what was added is sent.
            if known and len(data) >= known[1] and _hash(data[: known[1]]) == known[2]:
                offset = known[1]
            self._known[name] = (stamp, len(data), _hash(data))
            if not known or offset < len(data) or not offset:
                found.written[name] = (offset, data[offset:])
        found.gone = [name for name in self._known if name not in names]
        for name in found.gone:
            del self._known[name]
        return found

    def _files(self) -> Iterator[Tuple[str, Path]]:
        for place, folders, files in os.walk(self._folder):
            if "pyvenv.cfg" in files:
                folders.clear()
                continue
            for name in sorted(files):
                path = Path(place, name)
                if not path.is_symlink() and path.is_file() and path.stat().st_size <= MOST:
                    yield str(path.relative_to(self._folder)), path


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data).digest()


def announce() -> Announcement:
    """What this node has."""
    try:
        version = _said("--version")
        interpreters = json.loads(_said("bench", "--interpreters"))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Announcement("", [], str(error))
    return Announcement(version, [(found["version"], found["path"]) for found in interpreters])


def _said(*arguments: str) -> str:
    command = [find_binary(), *arguments]
    ended = subprocess.run(
        command, env=_environment(), stdout=subprocess.PIPE, timeout=100, check=True
    )
    return ended.stdout.decode().strip()


def run_job(
    key: str, arguments: List[str], files: Change, version: str
) -> Iterator[Union[str, Change, Ended, Refused]]:
    """Runs a command in a copy of a job's folder. Yields the node, changes to the folder and the end."""
    import ray

    yield ray.get_runtime_context().get_node_id()
    try:
        here = _said("--version")
    except (OSError, subprocess.SubprocessError) as error:
        here = str(error)
    if here != version:
        yield Refused(f"this node has no {version}: {here}")
        return
    # The same on each node, so that journals, in whose names the places of scripts are, fit.
    root = Path(tempfile.gettempdir(), f"minrepro-{os.getuid()}")
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_uid != os.getuid():
        yield Refused(f"{root} belongs to another user")
        return
    _clear(root)
    with _locked(root / f"{key}.lock"), tempfile.TemporaryDirectory() as outside:
        folder = root / key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files.apply(folder)
        watched = Watched(folder)
        watched.change()
        try:
            yield from _ran(arguments, folder, watched, Path(outside))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _ran(
    arguments: List[str], folder: Path, watched: Watched, outside: Path
) -> Iterator[Union[Change, Ended]]:
    with open(outside / "stdout", "wb") as stdout, open(outside / "stderr", "wb") as stderr:
        process = subprocess.Popen(
            [find_binary(), *arguments],
            cwd=folder,
            env={**_environment(), "MINREPRO_JOURNALS": str(folder / "journals")},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=_end_with_the_worker,
        )
    try:
        status = None
        while status is None:
            try:
                status = process.wait(timeout=PERIOD)
            except subprocess.TimeoutExpired:
                pass
            change = watched.change()
            if change:
                yield change
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    texts = [(outside / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    yield Ended(status, *texts)


def _environment() -> Dict[str, str]:
    """The node's own environment: what Ray sets for its workers is left out."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RAY_") and name not in OF_RAY
    }


def _end_with_the_worker() -> None:
    """Lets the kernel kill this process together with its worker."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _clear(root: Path) -> None:
    """Removes what workers left that were killed: folders whose locks nobody holds."""
    for lock in root.glob("*.lock"):
        try:
            with open(lock, "r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()
        except OSError:
            # Somebody works there, or was faster.
            continue


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits until nobody else works in a folder: a node that died may have had the same machine."""
    while True:
        with open(path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Who had it before may have removed the file.
            if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                continue
            try:
                yield
            finally:
                path.unlink()
            return
