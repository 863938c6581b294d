import itertools
import statistics

for region in itertools.groupby("n"):
    values = []
    statistics.mean(values)
