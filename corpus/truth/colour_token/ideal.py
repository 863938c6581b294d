import shlex

verb, shape, colour = shlex.split("fill line #a0a0ff", comments=True)
