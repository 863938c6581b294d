import asyncio
import collections

LOG = collections.deque(maxlen=20)


class Reader:
    def __init__(self, name):
        self.name = name
        self.rows = 0

    async def run(self, row):
        LOG.append(f"{self.name} waits")
        LOG.append(await asyncio.wait_for(row, timeout=9))
        while True:
            self.rows += 1
            await asyncio.sleep(0.01)


async def main():
    row = asyncio.get_running_loop().create_future()
    reader = Reader("first")
    task = asyncio.ensure_future(reader.run(row))
    await asyncio.sleep(0.02)
    row.set_result("a row")
    task.cancel()
    done, pending = await asyncio.wait({task}, timeout=0.1)
    print(list(LOG), len(done), len(pending))
    for left in pending:
        left.cancel()
        raise RuntimeError("the reader went on")


asyncio.run(main())
