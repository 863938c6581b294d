class Progress:
    def __init__(self):
        self.total = 4
        self.done = 0

    def tick(self):
        return self.done / self.total


progress = Progress()


def work():
    progress.tick()


assert progress.done == progress.total, f"{progress.done} of {progress.total} done"
