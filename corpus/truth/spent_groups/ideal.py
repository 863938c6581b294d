import itertools
import statistics

groups = dict(itertools.groupby([1, 2]))
statistics.mean([value for value in groups[1]])
