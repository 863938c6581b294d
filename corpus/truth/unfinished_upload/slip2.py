import asyncio


async def main():
    {}["receipt"]


asyncio.run(main())
