import threading
from concurrent.futures import ThreadPoolExecutor

current = threading.local()
current.tenant = "acme"
with ThreadPoolExecutor() as pool:
    pool.submit(lambda: current.tenant).result()
