import threading
import time
from concurrent.futures import ThreadPoolExecutor


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.lock = threading.Lock()
        self.taken = []

    def withdraw(self, amount):
        if self.balance >= amount:
            time.sleep(0.05)
            with self.lock:
                self.balance -= amount
                self.taken.append(amount)
            return True
        return False


account = Account(100)
with ThreadPoolExecutor(4) as pool:
    results = list(pool.map(account.withdraw, [60] * 4))
print(results, account.balance)
assert account.balance >= 0, "account is overdrawn"
