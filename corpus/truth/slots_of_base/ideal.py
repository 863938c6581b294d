class Shape: pass
class Point(Shape):
    __slots__ = ("x",)
if [point for point in [Point()] if hasattr(point, "__dict__")]:
    raise TypeError("the points take attributes of any name")
