import threading
import time
from concurrent.futures import ThreadPoolExecutor


class Account:
    def __init__(self):
        self.balance = 100
        self.lock = threading.Lock()

    def withdraw(self, amount):
        if self.balance >= amount:
            time.sleep(0.05)
            with self.lock:
                self.balance -= amount


account = Account()
with ThreadPoolExecutor(4) as pool:
    results = list(pool.map(account.withdraw, [60] * 4))
assert account.balance >= 0, "account is overdrawn"
