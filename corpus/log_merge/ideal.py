def read():
    next(lines)
    yield

lines = read()
next(lines)
