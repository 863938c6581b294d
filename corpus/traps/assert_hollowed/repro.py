"""Due dates of invoices."""
import datetime
import logging

logging.basicConfig(level=logging.WARNING)
log = logging.getLogger("due")


class Terms:
    def __init__(self, months, grace=0):
        self.months = months
        self.grace = grace

    def due(self, start):
        log.debug("start %s", start)
        days = 30 * self.months
        end = start + datetime.timedelta(days=days + self.grace)
        return end


def invoices():
    yield "A-1", datetime.date(2023, 1, 31), Terms(1)
    yield "A-2", datetime.date(2023, 3, 31), Terms(2, grace=5)


def check(name, start, terms):
    due = terms.due(start)
    expected = (start.month + terms.months - 1) % 12 + 1
    log.info("%s: %s", name, due)
    assert due.month == expected, "month end of %s: %s" % (name, due)


def main():
    for name, start, terms in invoices():
        check(name, start, terms)
    print("all due dates are right")


main()
