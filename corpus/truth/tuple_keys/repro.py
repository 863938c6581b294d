import datetime
import json


class Grid:
    def __init__(self, width, height):
        self.cells = {(x, y): "." for x in range(width) for y in range(height)}
        self.saved = datetime.date(2024, 5, 1)

    def mark(self, x, y):
        self.cells[x, y] = "#"

    def dump(self):
        state = {"saved": self.saved, "cells": self.cells}
        return json.dumps(state, default=str, indent=1)


grid = Grid(3, 2)
grid.mark(1, 1)
print(json.dumps({"saved": grid.saved}, default=str))
print(grid.dump())
