import random

random.seed(7)
assert random.random() == random.random(), "showing rows moved the draws"
