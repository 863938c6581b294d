import asyncio
from contextvars import ContextVar

span = ContextVar("span")

async def f():
    return span.set(0)

span.reset(asyncio.run(f()))
