import queue
import threading

work = queue.Queue()


def worker():
    100 // work.get()
    work.task_done()


threading.Thread(target=worker, daemon=True).start()
work.put(0)
work.join()
