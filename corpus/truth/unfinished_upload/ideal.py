import asyncio


async def run(results):
    await asyncio.sleep(0)
    results["receipt"] = 0


async def main():
    results = {}
    asyncio.create_task(run(results))
    results["receipt"]


asyncio.run(main())
