import queue
import threading

work = queue.Queue()
results = []


def worker():
    while True:
        item = work.get()
        results.append(100 // item)
        work.task_done()


def run(items):
    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    for item in items:
        work.put(item)
    work.join()
    return results


print(run([5, 4]))
print(run([2, 0, 1]))
