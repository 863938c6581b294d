"""Saves the seats of a hall and books some after they are loaded."""
import json


class Hall:
    def __init__(self, rows):
        self.rows = {}
        for number in range(1, rows + 1):
            self.rows[number] = {"free": ["A", "B"], "price": 10 * number}

    def save(self):
        return json.dumps({"rows": self.rows}, sort_keys=True)

    @classmethod
    def load(cls, text):
        hall = cls(0)
        hall.rows = json.loads(text)["rows"]
        return hall

    def book(self, number, seat):
        row = self.rows[number]
        row["free"].remove(seat)
        return row["price"]


hall = Hall(3)
print(hall.book(1, "A"))
hall = Hall.load(hall.save())
print(hall.book(2, "B"))
