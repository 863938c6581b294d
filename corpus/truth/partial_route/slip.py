import functools


def orders(store):
    pass


functools.partial(orders).route
