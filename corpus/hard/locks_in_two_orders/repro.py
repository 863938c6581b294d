"""Two accounts that pay each other at the same time lock each other out."""
import threading


class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance
        self.lock = threading.Lock()

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError(f"{self.owner} has not enough money")
        self.balance -= amount


def transfer(source, target, amount, barrier):
    with source.lock:
        barrier.wait()
        with target.lock:
            source.withdraw(amount)
            target.balance += amount


def main():
    ann, bob = Account("ann", 100), Account("bob", 50)
    barrier = threading.Barrier(2)
    threads = [
        threading.Thread(target=transfer, args=(ann, bob, 10, barrier)),
        threading.Thread(target=transfer, args=(bob, ann, 20, barrier)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(ann.balance, bob.balance)


main()
