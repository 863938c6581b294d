"""Keeps orders in files, one for each customer."""
import json
import os


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.opened = False

    def open(self):
        os.makedirs(self.folder, exist_ok=True)
        self.opened = True
        return self

    def close(self):
        self.opened = False

    def path(self, customer):
        safe = "".join(char if char.isalnum() else "_" for char in customer.lower())
        return os.path.join(self.folder, safe + ".json")

    def save(self, order, total):
        if not self.opened:
            raise RuntimeError("the store is closed")
        known = self.load(order.customer)
        known[order.number] = {"articles": order.articles(), "total": str(total)}
        with open(self.path(order.customer), "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1, sort_keys=True)

    def load(self, customer):
        try:
            with open(self.path(customer), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}
