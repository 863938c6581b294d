import threading

try:
    threading.BoundedSemaphore().release()
except ValueError as error:
    print(error)
