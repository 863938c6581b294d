import heapq

heapq.heappop([(1, {}), (2, {"name": "sync"}), (2, {"name": "report"})])
