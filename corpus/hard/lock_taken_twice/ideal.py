import threading
lock = threading.Lock()
with lock:
    with lock:
        pass
