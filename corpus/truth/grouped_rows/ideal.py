import itertools

groups = list(itertools.groupby("aab"))
next(groups[0][1])
