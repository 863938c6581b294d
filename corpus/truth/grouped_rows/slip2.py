import itertools

next(itertools.groupby(""))
