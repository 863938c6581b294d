import collections
import logging

logging.basicConfig(level=logging.WARNING)
DEFAULTS = {"gain": 3, "offset": 0}


class Settings:
    def __init__(self, defaults):
        self.shared = dict(defaults)
        self.own = collections.ChainMap({}, self.shared)

    def child(self):
        return Settings(self.shared)


class Session:
    def __init__(self, settings):
        self.settings = settings
        self.log = []

    def apply(self, changes):
        before = self.settings.shared.copy()
        self.settings.own.update(changes)
        after = self.settings.shared.copy()
        self.log.append((before, after))
        return before, after


session = Session(Settings(DEFAULTS))
logging.info("defaults: %s", session.settings.shared)
before, after = session.apply({"gain": 5, "offset": 1})
logging.info("log: %s", session.log)
assert before != after, "the update changed nothing"
