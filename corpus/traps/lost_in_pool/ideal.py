from concurrent.futures import ThreadPoolExecutor

found = {}

def add(room, text):
    found[room] = float(text)

with ThreadPoolExecutor() as pool:
    pool.submit(add, "cellar", "11,5")
found["cellar"]
