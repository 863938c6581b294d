import logging


class Memory(logging.Handler):
    def emit(self, record):
        self.format(record)


logger = logging.getLogger("app")
logger.addHandler(Memory())
logger.warning("login", "ada")
