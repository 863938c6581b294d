import functools
import json

ROUTES = {}


def route(path):
    def mark(handler):
        handler.route = path
        return handler

    return mark


@route("/orders")
def orders(store, limit=10):
    return json.dumps(store["orders"][:limit])


@route("/health")
def health(store):
    return "ok"


def mount(handlers, store):
    for handler in handlers:
        bound = functools.partial(handler, store)
        ROUTES[bound.route] = bound


mount([orders, health], {"orders": [1, 2, 3]})
print(sorted(ROUTES))
