"""Uploads a file in parts and prints its receipt."""
import asyncio


class Upload:
    def __init__(self, name, size):
        self.name = name
        self.parts = [min(4, size - start) for start in range(0, size, 4)]
        self.sent = 0

    async def run(self, results):
        for part in self.parts:
            await asyncio.sleep(0)
            self.sent += part
        results["receipt"] = f"{self.name}: {self.sent} bytes"


async def progress(upload, lines):
    for _ in range(2):
        await asyncio.sleep(0)
        lines.append(upload.sent)


async def main():
    results, lines = {}, []
    upload = Upload("notes.txt", 10)
    task = asyncio.create_task(upload.run(results))
    await progress(upload, lines)
    print("seen:", lines)
    print(results["receipt"])
    await task


asyncio.run(main())
