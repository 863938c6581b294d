import shlex

verb, shape, colour = shlex.split("fill line")
