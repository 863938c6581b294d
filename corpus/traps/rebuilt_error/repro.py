"""A runner of jobs that keeps what they end with."""

import io
import pickle
import time


class JobError(Exception):
    pass


class OverLimit(JobError):
    def __init__(self, user, limit):
        super().__init__(f"{user} may have {limit} pages")
        self.user = user
        self.limit = limit


class Store:
    def __init__(self):
        self.kept = {}

    def put(self, name, value):
        stream = io.BytesIO()
        pickle.dump({"name": name, "value": value}, stream, protocol=4)
        self.kept[name] = stream.getvalue()

    def get(self, name):
        return pickle.loads(self.kept[name])["value"]


def words(text):
    return len(text.split())


def pages(user, count, limit=20):
    if count > limit:
        raise OverLimit(user, limit)
    return [f"{user}-{number}" for number in range(count)]


def run(store, name, func, *args):
    try:
        value = func(*args)
    except JobError as error:
        value = error
    store.put(name, value)


begun = time.perf_counter()
store = Store()
run(store, "words", words, "the quick brown fox")
run(store, "small", pages, "ann", 3)
run(store, "large", pages, "bob", 30)
for name in store.kept:
    print(name, store.get(name))
print(time.perf_counter() - begun < 9)
