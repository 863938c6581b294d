class Overrun(Exception):
    pass


def openings():
    opening = 0.0
    while opening != 1.0:
        yield opening
        opening += 0.1


moves = []
for opening in openings():
    if len(moves) >= 30:
        raise Overrun("the valve never opened")
    moves.append(opening)
