"""A cache with a lock."""
import collections
import threading


class Cache:
    def __init__(self, size):
        self.size = size
        self.lock = threading.Lock()
        self.items = collections.OrderedDict()

    def put(self, key, value):
        with self.lock:
            self.items[key] = value
            if len(self.items) > self.size:
                self.evict()

    def evict(self):
        with self.lock:
            self.items.popitem(last=False)


def main():
    cache = Cache(2)
    for number, name in enumerate(["a", "b", "c", "d"]):
        cache.put(name, number)
        print("put", name)
    print(list(cache.items))


main()
