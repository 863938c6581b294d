import random


def shuffled(rows):
    order = [0, 1, 2, 3]
    random.shuffle(order)
    return [rows[at] for at in order]


rows = ["ash", "beech", "elm", "oak"]
random.seed(7)
before = random.random()
random.seed(7)
print("shown as", shuffled(rows))
after = random.random()
print(before, after)
assert before == after, "showing rows moved the draws"
