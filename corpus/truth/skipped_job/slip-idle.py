import asyncio


class Stalled(Exception):
    pass


async def main():
    orders = asyncio.Queue()
    orders.put_nowait("pick-up")
    try:
        await asyncio.wait_for(orders.join(), 0.3)
    except asyncio.TimeoutError:
        raise Stalled("orders are still open")


asyncio.run(main())
