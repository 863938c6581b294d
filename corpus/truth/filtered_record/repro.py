import logging


class Redacting(logging.Filter):
    def __init__(self, words):
        super().__init__()
        self.words = words

    def filter(self, record):
        text = record.getMessage()
        for word in self.words:
            text = text.replace(word, "***")
        record.msg = text
        return True


class Memory(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


def setup(secrets):
    logger = logging.getLogger("app")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    memory = Memory()
    memory.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    memory.addFilter(Redacting(secrets))
    logger.addHandler(memory)
    return logger, memory


logger, memory = setup(["hunter2"])
logger.info("started")
logger.info("login of %s", "ada")
logger.info("password %s of %s", "hunter2", "ada")
print(memory.lines)
