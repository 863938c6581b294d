import itertools
import operator
import statistics

RECORDS = [("north", 120), ("south", 80), ("north", 45), ("south", 60)]


class Report:
    def __init__(self, records):
        self.records = records

    def groups(self):
        ordered = sorted(self.records, key=operator.itemgetter(0))
        return dict(itertools.groupby(ordered, key=operator.itemgetter(0)))

    def means(self):
        found = {}
        for region, rows in self.groups().items():
            values = [value for _, value in rows]
            found[region] = statistics.mean(values)
        return found


print(Report(RECORDS).means())
