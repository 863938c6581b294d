"""Resizes pictures in a thread. It does not end: the program stands at the join of the queue."""
import dataclasses
import queue
import threading


@dataclasses.dataclass
class Job:
    name: str
    width: int
    height: int

    def scale(self, factor):
        if self.height == 0:
            raise ValueError(f"{self.name} has no height")
        return Job(self.name, self.width // factor, self.height // factor)


class Worker(threading.Thread):
    def __init__(self, jobs, results):
        super().__init__(daemon=True)
        self.jobs = jobs
        self.results = results

    def run(self):
        while True:
            job = self.jobs.get()
            self.results.append(job.scale(2))
            self.jobs.task_done()


def main():
    jobs = queue.Queue()
    results = []
    Worker(jobs, results).start()
    for name, width, height in [("a", 640, 480), ("b", 320, 0), ("c", 100, 100)]:
        jobs.put(Job(name, width, height))
    jobs.join()
    print(results)


if __name__ == "__main__":
    main()
