import asyncio

async def run():
    asyncio.run(run())

asyncio.run(run())
