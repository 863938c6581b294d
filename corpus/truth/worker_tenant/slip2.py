import threading
from concurrent.futures import ThreadPoolExecutor

current = threading.local()
with ThreadPoolExecutor() as pool:
    pool.submit(lambda: current.tenant).result()
