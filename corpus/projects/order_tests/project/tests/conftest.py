import logging
from decimal import Decimal

import pytest

from orders import Pricing
from orders.importing import Import
from orders.store import Store


@pytest.fixture(scope="session")
def discounts():
    return {10: Decimal("0.02"), 100: Decimal("0.05"), 1000: Decimal("0.08")}


@pytest.fixture
def pricing(discounts, request):
    free_from = getattr(request, "param", 200)
    return Pricing(discounts, free_from=Decimal(free_from))


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "orders").open()
    yield store
    store.close()


@pytest.fixture
def importer(pricing, store):
    return Import(pricing, store)


@pytest.fixture(autouse=True)
def quiet(caplog, monkeypatch):
    monkeypatch.setenv("ORDERS_MODE", "test")
    caplog.set_level(logging.INFO)
