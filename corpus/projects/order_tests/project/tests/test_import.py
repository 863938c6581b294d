import os
from decimal import Decimal

import pytest

from exports import BULK, SMALL, export
from orders.model import OrderError

TOTALS = [
    pytest.param(SMALL, "27.50", id="small"),
    pytest.param(BULK, "6441.40", id="bulk"),
]


def test_header(importer):
    with pytest.raises(OrderError, match="no header"):
        importer.run("A-1;Ada Meier;tea;2;3.50\n")


class TestImport:
    def setup_method(self):
        self.mode = os.environ["ORDERS_MODE"]

    @pytest.mark.parametrize("text, total", TOTALS)
    def test_total(self, importer, text, total, caplog):
        assert self.mode == "test"
        assert importer.run(text) == pytest.approx(Decimal(total))
        assert len(caplog.records) == len(importer.totals)

    def test_store(self, importer, store):
        importer.run(SMALL)
        assert store.load("Ada Meier")["A-1"]["articles"] == ["cup", "tea"]

    def test_counts(self, importer):
        with pytest.raises(OrderError):
            importer.run(export("C-1;Cem;tea;0;1.00"))
