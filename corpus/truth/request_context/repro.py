import asyncio
import contextvars

request_id = contextvars.ContextVar("request_id")


async def begin(number):
    request_id.set(f"req-{number}")
    await asyncio.sleep(0)
    return number


async def log(message):
    return f"[{request_id.get()}] {message}"


async def handle(number):
    accepted = await asyncio.create_task(begin(number))
    return await log(f"accepted {accepted}")


print(asyncio.run(handle(7)))
