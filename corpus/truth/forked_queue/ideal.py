import multiprocessing
import queue

jobs = queue.Queue()
worker = multiprocessing.get_context("fork").Process(target=jobs.put, args=(1,))
worker.start()
worker.join()
jobs.get_nowait()
