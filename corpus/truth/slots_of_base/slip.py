class Shape:
    pass
loose = [point for point in [Shape()] if hasattr(point, "__dict__")]
if loose:
    raise TypeError("the points take attributes of any name")
