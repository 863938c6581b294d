"""Packs orders by several packers; orders for pick-up need no packing."""
import asyncio
from collections import namedtuple

Order = namedtuple("Order", "number way weight")


class Stalled(Exception):
    pass


class Station:
    def __init__(self, packers=2, patience=0.3):
        self.orders = asyncio.Queue()
        self.packers = packers
        self.patience = patience
        self.packed = []

    async def pack(self, name):
        while True:
            order = await self.orders.get()
            if order.way == "pick-up":
                continue
            await asyncio.sleep(0)
            self.packed.append((name, order.number))
            self.orders.task_done()

    async def day(self, orders):
        packers = [asyncio.create_task(self.pack(f"packer {n}")) for n in range(self.packers)]
        for order in orders:
            self.orders.put_nowait(order)
        try:
            await asyncio.wait_for(self.orders.join(), self.patience)
        except asyncio.TimeoutError:
            raise Stalled("orders are still open") from None
        finally:
            for packer in packers:
                packer.cancel()
        return len(self.packed)


async def main():
    monday = [Order(1, "mail", 2.5), Order(2, "van", 18)]
    print("monday", await Station().day(monday))
    tuesday = [Order(3, "mail", 1.5), Order(4, "pick-up", 7), Order(5, "van", 30)]
    print("tuesday", await Station().day(tuesday))


asyncio.run(main())
