import threading
from concurrent.futures import ThreadPoolExecutor

current = threading.local()


def table(name):
    return f"{current.tenant}_{name}"


def count(name):
    rows = {"acme_orders": 4, "acme_items": 9}
    return rows[table(name)]


def main():
    current.tenant = "acme"
    print("here:", count("orders"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        totals = list(pool.map(count, ["orders", "items"]))
    print("total:", sum(totals))


main()
