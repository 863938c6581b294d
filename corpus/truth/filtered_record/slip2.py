import logging


class Redacting:
    def filter(self, record):
        record.msg = 0
        return True


class Memory(logging.Handler):
    def emit(self, record):
        self.format(record)


logger = logging.getLogger("app")
memory = Memory()
memory.addFilter(Redacting())
logger.addHandler(memory)
logger.warning("password %s of %s", "hunter2")
