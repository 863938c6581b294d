import multiprocessing


class Progress:
    def __init__(self, total):
        self.total = total
        self.done = 0

    def tick(self):
        self.done += 1
        return self.done / self.total


progress = Progress(4)


def work(number):
    progress.tick()
    return number * number


with multiprocessing.get_context("fork").Pool(2) as pool:
    results = pool.map(work, range(progress.total))
print("results", results)
assert progress.done == progress.total, f"{progress.done} of {progress.total} done"
