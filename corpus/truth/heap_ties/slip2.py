sorted([{"name": "sync"}, {"name": "report"}])
