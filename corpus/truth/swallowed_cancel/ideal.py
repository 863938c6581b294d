import asyncio


async def run(row):
    await asyncio.wait_for(row, timeout=9)
    await asyncio.sleep(9)


async def main():
    row = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(run(row))
    await asyncio.sleep(0.02)
    row.set_result("a row")
    task.cancel()
    done, pending = await asyncio.wait({task}, timeout=0.1)
    for left in pending:
        raise RuntimeError("the reader went on")


asyncio.run(main())
