"""Sessions with a token each, kept in a text file.

About every second login fails with

    UnicodeDecodeError: 'utf-8' codec can't decode byte 0x9f in position 0: invalid start byte

The byte is another one each time. I do not see what I do differently from one login to the next.
"""
import datetime
import io
import json
import logging
import secrets

logging.basicConfig(level=logging.ERROR)
log = logging.getLogger("sessions")

LIFETIME = datetime.timedelta(hours=8)


class Clock:
    def __init__(self, start=None):
        self.start = start or datetime.datetime(2024, 3, 1, 8, 0)
        self.ticks = 0

    def now(self):
        self.ticks += 1
        return self.start + datetime.timedelta(minutes=self.ticks)


class Session:
    def __init__(self, user, token, expires):
        self.user = user
        self.token = token
        self.expires = expires

    def as_line(self):
        return json.dumps({"user": self.user, "token": self.token, "expires": self.expires.isoformat()})


class Store:
    def __init__(self, stream):
        self.stream = stream
        self.count = 0

    def append(self, session):
        log.debug("appending %s", session.user)
        self.stream.write(session.as_line() + "\n")
        self.count += 1

    def lines(self):
        return self.stream.getvalue().splitlines()


class Logins:
    def __init__(self, store, clock):
        self.store = store
        self.clock = clock
        self.failures = {}

    def make_token(self, size=1):
        # the check byte alone; the rest comes from the database
        raw = secrets.token_bytes(size)
        return raw.decode("utf-8")

    def login(self, user):
        if self.failures.get(user, 0) > 3:
            raise PermissionError(user)
        session = Session(user, self.make_token(), self.clock.now() + LIFETIME)
        self.store.append(session)
        return session


def main():
    store = Store(io.StringIO())
    logins = Logins(store, Clock())
    session = logins.login("ann")
    print(session.user, "until", session.expires)
    print(store.count, "sessions,", sum(map(len, store.lines())), "characters")


if __name__ == "__main__":
    main()
