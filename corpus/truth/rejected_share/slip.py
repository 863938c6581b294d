import random

random.Random(3).sample(["ash"], 4)
