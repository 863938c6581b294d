"""Finds the program that this package was installed with. Starts nothing."""

import os
import shutil
import sys
import sysconfig
from typing import Iterator

__all__ = ["find_binary"]


def find_binary() -> str:
    """The path of the ``minrepro`` program.

    The variable ``MINREPRO_BINARY`` comes first, then the folders that ``pip`` installs programs to,
    then the search path.
    """
    named = os.environ.get("MINREPRO_BINARY")
    if named:
        return named
    for folder in _folders():
        path = os.path.join(folder, "minrepro")
        if os.path.isfile(path):
            return path
    found = shutil.which("minrepro")
    if found:
        return found
    raise FileNotFoundError(
        "the program `minrepro` is not installed beside its Python package; reinstall it: pip install --force-reinstall minrepro"
    )


def _folders() -> Iterator[str]:
    yield sysconfig.get_path("scripts")
    # `pip install --user`
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else "posix_user"
    yield sysconfig.get_path("scripts", scheme=user)
    # `pip install --target FOLDER` puts programs in its folder `bin`.
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
