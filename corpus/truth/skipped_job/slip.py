import asyncio


class Stalled(Exception):
    pass


async def main():
    try:
        await asyncio.wait_for(asyncio.Queue().join(), 0)
    except asyncio.TimeoutError:
        raise Stalled("orders are still open")


asyncio.run(main())
