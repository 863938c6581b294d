import logging


class Redacting(logging.Filter):
    def filter(self, record):
        record.msg = record.getMessage()
        return True


class Memory(logging.Handler):
    def emit(self, record):
        self.format(record)


logger = logging.getLogger("app")
logger.setLevel(logging.INFO)
logger.propagate = False
memory = Memory()
memory.addFilter(Redacting())
logger.addHandler(memory)
logger.info("login of %s", "ada")
