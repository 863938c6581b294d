import asyncio


class Stalled(Exception):
    pass


async def pack(orders):
    while True:
        if await orders.get() == "pick-up":
            continue
        orders.task_done()


async def main():
    orders = asyncio.Queue()
    packer = asyncio.create_task(pack(orders))
    orders.put_nowait("mail")
    orders.put_nowait("pick-up")
    try:
        await asyncio.wait_for(orders.join(), 0.3)
    except asyncio.TimeoutError:
        raise Stalled("orders are still open")


asyncio.run(main())
