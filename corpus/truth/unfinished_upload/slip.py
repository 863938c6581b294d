import asyncio


async def main():
    results = {}
    asyncio.create_task(asyncio.sleep(0))
    results["receipt"]


asyncio.run(main())
