from contextlib import contextmanager

@contextmanager
def session():
    for attempt in range(2):
        try:
            yield
        except ValueError:
            pass

with session():
    int("n/a")
