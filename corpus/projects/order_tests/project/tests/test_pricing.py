from decimal import Decimal

import pytest

from orders import Line, Order


@pytest.mark.parametrize("count, total", [(1, "19.50"), (20, "205.50"), (30, "294.00")])
def test_discount(pricing, count, total):
    order = Order("T", "test").add(Line("tea", count, Decimal(10)))
    assert pricing.total(order) == Decimal(total)


@pytest.mark.parametrize("pricing", [10], indirect=True)
def test_shipping_is_free(pricing):
    assert pricing.total(Order("T", "test").add(Line("tea", 1, Decimal(12)))) == 12
