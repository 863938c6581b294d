import random

random.seed(7)
before = random.random()
random.seed(7)
random.shuffle([0, 1, 2, 3])
assert before == random.random(), "showing rows moved the draws"
