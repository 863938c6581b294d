import random
import statistics


class Mean:
    value = 0.0

    def __call__(self, number):
        self.value += 0.25 * (number - self.value)


def stream():
    chance = random.Random(4)
    for _ in range(6):
        yield 10.0 + chance.random()


mean = Mean()
numbers = list(stream())
if mean.value < min(numbers) - statistics.pstdev(numbers):
    print("FAILED: mean below all values")
