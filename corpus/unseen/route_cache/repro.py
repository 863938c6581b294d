"""Minimal router for our embedded dashboard (no framework allowed there).

I wanted to save memory and gave the base class __slots__; afterwards the
first request that is not a static page dies inside functools.
"""
import functools
import json
import operator
import re
import sys
from collections import OrderedDict
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

CONVERTERS = MappingProxyType({
    "int": (r"\d+", int),
    "str": (r"[^/]+", str),
    "float": (r"\d+\.\d+", float),
})
PLACEHOLDER = re.compile(r"<(?:(\w+):)?(\w+)>")


class Response:
    def __init__(self, body, status=HTTPStatus.OK, **headers):
        self.body = body
        self.status = status
        self.headers = {"content-type": "text/plain"}
        self.headers.update(headers)

    def __str__(self):
        kind = self.headers["content-type"]
        return f"{self.status.value} {self.status.phrase} [{kind}] {self.body}"


@functools.singledispatch
def to_response(value):
    return Response(repr(value), HTTPStatus.INTERNAL_SERVER_ERROR)


@to_response.register(str)
def _(value):
    return Response(value)


@to_response.register(dict)
@to_response.register(list)
def _(value):
    return Response(json.dumps(value, sort_keys=True), **{"content-type": "application/json"})


@to_response.register
def _(value: Response):
    return value


class Base:
    __slots__ = ("path", "handler", "hits")

    def __init__(self, path, handler):
        self.path = path
        self.handler = handler
        self.hits = 0

    def matches(self, path):
        raise NotImplementedError

    def __call__(self, **arguments):
        self.hits += 1
        return to_response(self.handler(**arguments))


class StaticRoute(Base):
    __slots__ = ()

    def matches(self, path):
        return {} if path == self.path else None


class PatternRoute(Base):
    __slots__ = ("types",)

    @functools.cached_property
    def regex(self):
        self.types = {}

        def replace(found):
            kind, name = found[1] or "str", found[2]
            pattern, self.types[name] = CONVERTERS[kind]
            return f"(?P<{name}>{pattern})"

        return re.compile(PLACEHOLDER.sub(replace, self.path))

    def matches(self, path):
        found = self.regex.fullmatch(path)
        if found is None:
            return None
        return {name: self.types[name](text) for name, text in found.groupdict().items()}


class Router:
    def __init__(self, *, cache_size=32):
        self.routes = OrderedDict()
        self.middleware = []
        self.resolve = functools.lru_cache(maxsize=cache_size)(self._resolve)

    def route(self, path, **defaults):
        def decorate(function):
            cls = PatternRoute if "<" in path else StaticRoute
            handler = functools.partial(function, **defaults) if defaults else function
            self.routes[path] = cls(path, handler)
            return function
        return decorate

    def use(self, function):
        self.middleware.append(function)
        return function

    def _resolve(self, path):
        for route in self.routes.values():
            arguments = route.matches(path)
            if arguments is not None:
                return route, arguments
        return None, {}

    def handle(self, url):
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        route, arguments = self.resolve(parts.path.rstrip("/") or "/")
        if route is None:
            return Response(f"no page {parts.path}", HTTPStatus.NOT_FOUND)
        response = route(**{**query, **arguments})
        return functools.reduce(lambda result, step: step(result), self.middleware, response)


app = Router(cache_size=8)


@app.use
def add_length(response):
    response.headers["content-length"] = len(response.body)
    return response


@app.route("/")
def index(name="stranger"):
    return f"Hello, {name}!"


@app.route("/status", detail=False)
def status(detail):
    return {"up": True, "routes": len(app.routes)} if detail else "up"


@app.route("/sensor/<int:number>", unit="C")
def sensor(number, unit):
    return {"sensor": number, "unit": unit, "value": 20 + number / 4}


@app.route("/room/<name>/limits")
def limits(name):
    return [name, 18, 24]


REQUESTS = [
    "/",
    "/?name=Eva",
    "/status",
    "/sensor/7?unit=F",
    "/sensor/7",
    "/room/attic/limits/",
    "/nothing",
]


def main(requests):
    for url in requests:
        print(f"{url:22}", app.handle(url))
    print(app.resolve.cache_info())
    busiest = max(app.routes.values(), key=operator.attrgetter("hits"))
    print("busiest:", busiest.path)


if __name__ == "__main__":
    main(sys.argv[1:] or REQUESTS)
