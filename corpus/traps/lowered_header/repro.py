"""A client that signs its requests."""

import json
import sys


class Headers(dict):
    """Names in any case."""

    def __setitem__(self, name, value):
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name):
        return super().__getitem__(name.lower())


class Request:
    def __init__(self, path, body):
        self.path = path
        self.body = json.dumps(body)
        self.headers = Headers()
        self.headers["Length"] = len(self.body)

    def sign(self, key):
        self.headers.update({"X-Sign": f"{key}-{len(self.path)}", "Agent": "shelf/2"})

    def line(self):
        return f"POST {self.path} {self.headers['Length']}"


class Log:
    def __init__(self, stream):
        self.stream = stream
        self.lines = 0

    def write(self, text):
        self.lines += 1
        print(f"{self.lines:02} {text}", file=self.stream)


def send(request, log):
    log.write(request.line())
    user, _, length = request.headers["X-Sign"].partition("-")
    log.write(f"user {user}, {length} letters")


log = Log(sys.stdout)
for path, body in [("/books", {"title": "Kites"}), ("/loans", {"book": 7, "days": 21})]:
    request = Request(path, body)
    request.sign("k7")
    send(request, log)
