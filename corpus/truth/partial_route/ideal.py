import functools


def orders(store):
    pass


orders.route = "/orders"
functools.partial(orders).route
