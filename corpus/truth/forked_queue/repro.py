import multiprocessing
import queue

jobs = queue.Queue()


def produce(names):
    for name in names:
        jobs.put({"name": name, "state": "new"})


def drain():
    found = []
    while len(found) < 2:
        found.append(jobs.get_nowait())
    return found


context = multiprocessing.get_context("fork")
worker = context.Process(target=produce, args=(["build", "test"],))
worker.start()
worker.join()
print("worker ended with", worker.exitcode)
print([job["name"] for job in drain()])
