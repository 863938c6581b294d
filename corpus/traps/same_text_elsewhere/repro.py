"""Resizes thumbnails: threads read them, processes scale them."""
import argparse
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor


class Thumbnails:
    def __init__(self, workers):
        self.readers = ThreadPoolExecutor(max_workers=workers)
        self.scalers = ProcessPoolExecutor(max_workers=workers)
        self.sizes = {}

    def read(self, name):
        return [len(name)] * 4

    def load(self, names):
        pending = {name: self.readers.submit(self.read, name) for name in names}
        for name, future in pending.items():
            self.sizes[name] = future.result()
        return self.sizes

    def scale(self, name):
        return self.scalers.submit(sum, self.sizes.get(name, []))

    def close(self):
        self.scalers.shutdown()
        self.readers.shutdown()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    thumbnails = Thumbnails(options.workers)
    print("loaded", len(thumbnails.load(["a.png", "bb.png"])))
    thumbnails.close()
    print("again", len(thumbnails.load(["ccc.png"])))
    print("scaled", thumbnails.scale("a.png").result())


main()
