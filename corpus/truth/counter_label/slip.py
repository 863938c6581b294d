from collections import Counter

Counter("ab").label
