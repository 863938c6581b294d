import collections
import fractions
import logging
import random

logging.basicConfig(level=logging.WARNING)
ROWS = "ash oak elm oak ash fir oak".split()


class Stock:
    def __init__(self, names):
        self.counts = collections.Counter(names)
        self.share = fractions.Fraction(2, 3)

    def wanted(self):
        return int(sum(self.counts.values()) * self.share.limit_denominator(10))


class Survey:
    def __init__(self, stock, seed):
        self.stock = stock
        self.chance = random.Random(seed)

    def pick(self):
        names = sorted(self.stock.counts)
        return self.chance.sample(names[1:], self.stock.wanted())


survey = Survey(Stock(ROWS), 3)
logging.info("names: %s", survey.stock.counts)
print(survey.pick())
