import queue

queue.Queue().get()
