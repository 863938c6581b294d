import os

import pytest

from flags import Audit, Defaults, Environment, Store, User


@pytest.fixture(autouse=True)
def no_overrides(monkeypatch):
    """Tests do not see the variables of whoever runs them."""
    for name in list(os.environ):
        if name.startswith("FLAG_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def staff():
    return User("ada", frozenset({"staff"}))


@pytest.fixture(scope="module")
def crowd():
    return [User(f"user-{number}") for number in range(200)]


@pytest.fixture
def audit(tmp_path):
    audit = Audit(tmp_path / "audit.jsonl")
    audit.open()
    yield audit
    audit.close()
    assert not audit.is_open


@pytest.fixture(params=[False, True], ids=["lenient", "strict"])
def environment(request):
    return Environment(strict=request.param)


@pytest.fixture
def store(environment, audit):
    return Store([Defaults(), environment], audit)
