import functools


class LookupFailed(Exception):
    pass


def retried(times, errors):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            last = None
            for attempt in range(times):
                try:
                    return function(*args, **kwargs)
                except errors as error:
                    last = error
            raise LookupFailed(f"{function.__name__} failed {times} times") from last

        return wrapper

    return decorate


class Shop:
    def __init__(self, prices):
        self.prices = prices

    @retried(3, (KeyError, ConnectionError))
    def price(self, name):
        return self.prices[name]


shop = Shop({"apple": 3, "pear": 4})
for name in ["apple", "pear", "fig"]:
    print(name, shop.price(name))
