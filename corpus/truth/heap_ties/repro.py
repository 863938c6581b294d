import heapq


class Scheduler:
    def __init__(self):
        self.heap = []

    def add(self, priority, name, **options):
        heapq.heappush(self.heap, (priority, {"name": name, **options}))

    def run(self):
        done = []
        while self.heap:
            _, task = heapq.heappop(self.heap)
            done.append(task["name"])
        return done


scheduler = Scheduler()
scheduler.add(2, "sync", retries=3)
scheduler.add(1, "backup")
scheduler.add(2, "report")
print(scheduler.run())
