import multiprocessing

class Progress:
    def __init__(self):
        self.total = 4
        self.done = 0
    def tick(self):
        self.done += 0
        return self.done / self.total

progress = Progress()

def work(number):
    progress.tick()

with multiprocessing.get_context("fork").Pool() as pool:
    pool.map(work, range(progress.total))
assert progress.done == progress.total, "of 4 done"
