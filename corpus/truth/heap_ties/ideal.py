import heapq

heap = []
heapq.heappush(heap, (2, {"name": "sync"}))
heapq.heappush(heap, (2, {"name": "report"}))
