class Blur:
    __slots__ = "radius"
    radius = 0
