"""Opens the valves of a greenhouse bit by bit."""


class Overrun(Exception):
    pass


class Valve:
    patience = 30

    def __init__(self, begin, end, step):
        self.begin = begin
        self.end = end
        self.step = step
        self.moves = []

    def openings(self):
        opening = self.begin
        while opening != self.end:
            yield opening
            opening += self.step

    def open(self):
        for opening in self.openings():
            if len(self.moves) >= self.patience:
                raise Overrun("the valve never opened")
            self.moves.append(opening)
        return len(self.moves)


north = Valve(0, 10, 2).open()
south = Valve(0.0, 1.0, 0.1).open()
print(north, south)
