import threading

a = threading.Lock()
b = threading.Lock()
barrier = threading.Barrier(2)

def transfer(source, target):
    with source:
        barrier.wait()
        with target:
            pass

for locks in (a, b), (b, a):
    thread = threading.Thread(target=transfer, args=locks)
    thread.start()
thread.join()
