class Shape:
    """What all shapes have in common."""

    def describe(self):
        return type(self).__name__.lower()


class Point(Shape):
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


points = [Point(3, 4), Point(0, 1)]
print(len(points), "of", points[0].describe())
loose = [point for point in points if hasattr(point, "__dict__")]
if loose:
    raise TypeError("the points take attributes of any name")
