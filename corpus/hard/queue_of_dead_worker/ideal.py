import queue
import threading

def work():
    raise ValueError

jobs = queue.Queue()
threading.Thread(target=work).start()
jobs.put(0)
jobs.join()
