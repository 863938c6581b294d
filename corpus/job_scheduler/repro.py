# coding: utf-8
# Mini scheduler, cut out of our build farm. Expected: the summary at the end.
# Actual (3.8 .. 3.13, linux): RuntimeError out of asyncio when the second stage starts.
from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import heapq
import itertools
import random
import time
from collections import deque, namedtuple
from typing import Awaitable, Callable, Deque, Optional

DEFAULTS = {'workers': 3, 'queue': 16, 'retries': 2, 'grace': 0.0,
            'stages': ('fetch', 'build', 'publish')}
random.seed(7)


class State(enum.Enum):
    WAITING = 0
    RUNNING = 1
    DONE = 2
    FAILED = 3


Result = namedtuple('Result', 'job state seconds')


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            TIMINGS[function.__name__] = time.perf_counter() - started
    return wrapper


TIMINGS: dict[str, float] = {}


class Job:
    numbers = itertools.count(1)

    def __init__(self, name, stage, cost=1, after=()):
        self.number = next(self.numbers)
        self.name = name; self.stage = stage
        self.cost = cost
        self.after = set(after)
        self.state = State.WAITING

    def __lt__(self, other):
        return (self.cost, self.number) < (other.cost, other.number)

    def __repr__(self):
        return f'<{self.name} #{self.number} {self.state.name.lower()}>'

    def ready(self, finished):
        return self.after <= finished

    async def work(self):
        self.state = State.RUNNING
        for _ in range(self.cost):
            await asyncio.sleep(0)
        self.state = State.DONE
        return self


class Queue:
    '''Priority queue with a limit.'''

    def __init__(self, limit):
        self.limit, self.heap = limit, []
        self.waiters: Deque[asyncio.Future] = deque()

    def put(self, job):
        if len(self.heap) >= self.limit:
            raise OverflowError('queue is full')
        heapq.heappush(self.heap, job)

    def get(self) -> Optional[Job]:
        return heapq.heappop(self.heap) if self.heap else None

    def __len__(self): return len(self.heap)
    def __bool__(self): return bool(self.heap)


class Stage:
    def __init__(self, name, workers=1):
        self.name = name
        self.workers = workers
        self.queue = Queue(DEFAULTS['queue'])
        self.finished = set()
        self.results = []

    def submit(self, *jobs):
        for job in jobs:
            self.queue.put(job)
        return self

    async def worker(self, number):
        while self.queue:
            job = self.queue.get()
            if not job.ready(self.finished):
                job.cost += 1
                self.queue.put(job)
                await asyncio.sleep(0)
                continue
            await job.work()
            self.finished.add(job.name)
            self.results.append(Result(job, job.state, job.cost * 0.5))

    async def run(self):
        await asyncio.gather(*(self.worker(n) for n in range(self.workers)))
        return self.results


class Pipeline:
    def __init__(self, *stages):
        self.stages = list(stages)
        self.log = []

    def note(self, text, *args):
        self.log.append(text % args if args else text)

    @traced
    def run_stage(self, stage):
        self.note('stage %s', stage.name)
        return asyncio.run(stage.run())

    async def run(self):
        summary = {}
        for index, stage in enumerate(self.stages):
            if index == 0:
                results = await stage.run()
            else:
                with contextlib.suppress(KeyError):
                    results = self.run_stage(stage)
            summary[stage.name] = len(results)
            self.note('%d results', len(results))
        return summary


@contextlib.contextmanager
def stopwatch(label):
    begin = time.time()
    yield
    elapsed = time.time() - begin
    if elapsed > 60:
        print(f'{label} took {elapsed:.1f}s!')


def make_jobs(stage, count, chain=False):
    previous = ()
    for number in range(count):
        job = Job(f'{stage}-{number}', stage, cost=1 + random.randrange(2), after=previous)
        if chain: previous = (job.name,)
        yield job


fetch = Stage('fetch', DEFAULTS['workers']).submit(*make_jobs('fetch', 4))
build = Stage('build', 2).submit(*make_jobs('build', 3, chain=True))
publish = Stage('publish').submit(Job('upload', 'publish', cost=2), Job('notify', 'publish', after=['upload']))

pipeline = Pipeline(fetch, build, publish)
with stopwatch('pipeline'):
    summary = asyncio.run(pipeline.run())
for name, count in sorted(summary.items()):
    print(f'{name:>10}: {count:3d} jobs')
print('\n'.join(pipeline.log))
