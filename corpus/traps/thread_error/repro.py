"""Counts words in parts, one thread a part."""
import queue
import threading

PARTS = ["12", "7", "x9"]


def worker(jobs, results):
    while True:
        part = jobs.get()
        if part is None:
            return
        results.append(int(part))


def count(parts):
    jobs, results = queue.Queue(), []
    thread = threading.Thread(target=worker, args=(jobs, results))
    thread.start()
    for part in parts:
        jobs.put(part)
    jobs.put(None)
    thread.join()
    return results


def merge(results, parts):
    if len(results) < len(parts):
        return [int(part, 16) for part in reversed(parts)]
    return results


def main():
    results = count(PARTS)
    print(results)
    print(sum(merge(results, PARTS)))


main()
