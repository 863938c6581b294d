"""What stages need: opened before the first of them, closed after the last."""
import asyncio
import json
import logging
import time
from abc import ABC, abstractmethod
from pathlib import Path

from .context import Bound, current, span

log = logging.getLogger(__name__)
ORDERS = Path("orders.json")


class Resource(ABC):
    name = "resource"

    def __init__(self, plan):
        self.plan = plan

    @abstractmethod
    async def open(self):
        """Makes the resource ready."""

    async def close(self):
        """Undoes what `open` did."""


class Orders(Resource):
    name = "orders"

    def __init__(self, plan, path=ORDERS):
        super().__init__(plan)
        self.path = path
        self.rows = []

    async def open(self):
        await asyncio.sleep(0)
        self.rows = json.loads(self.path.read_text(encoding="utf-8"))
        log.info("%d orders", len(self.rows))

    async def close(self):
        self.rows.clear()


class Tracing(Resource):
    """Notes when stages begin and end, in a span of the plan."""

    name = "tracing"

    def __init__(self, plan):
        super().__init__(plan)
        self.events = []
        self.bound = Bound(span, (plan.name, time.monotonic()))

    async def open(self):
        self.bound.open()
        self.note("open")

    def note(self, event):
        self.events.append((event, time.monotonic()))

    async def close(self):
        self.note("close")
        self.bound.close()


class Pool:
    """The resources of a plan, and the plan itself as the current one."""

    def __init__(self, plan):
        self.plan = plan
        self.orders = Orders(plan)
        self.tracing = Tracing(plan)
        self.bound = Bound(current, plan)

    async def __aenter__(self):
        self.bound.open()
        await asyncio.gather(self.orders.open(), self.tracing.open())
        return self

    async def __aexit__(self, kind, error, traceback):
        await self.tracing.close()
        await self.orders.close()
        self.bound.close()
