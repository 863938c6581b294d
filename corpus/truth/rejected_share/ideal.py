import fractions
import random

random.Random(3).sample(["ash"], int(7 * fractions.Fraction(2, 3).limit_denominator(10)))
