class Overrun(Exception):
    pass


def openings(opening, end):
    while opening != end:
        yield opening


moves = []
for opening in openings(0.0, 1.0):
    if len(moves) >= 30:
        raise Overrun("the valve never opened")
    moves.append(opening)
