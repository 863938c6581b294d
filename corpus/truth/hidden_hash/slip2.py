class Part:
    def __hash__(self):
        return 1


class Wheel:
    def __eq__(self, other):
        return True


hash(Part())
hash(Wheel())
