"""Words and their numbers."""
import re
from collections import Counter

WORD = re.compile(r"[a-z']+|\d+")
PAD, UNKNOWN = 0, 1
SPECIAL = ("<pad>", "<unknown>")


def words(text):
    return WORD.findall(text.lower())


class Vocabulary:
    def __init__(self, texts, least=1):
        counts = Counter(word for text in texts for word in words(text))
        known = sorted(word for word, count in counts.items() if count >= least)
        self.words = [*SPECIAL, *known]
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, text):
        return [self.numbers.get(word, UNKNOWN) for word in words(text)] or [UNKNOWN]

    def decode(self, numbers):
        return " ".join(self.words[number] for number in numbers if number != PAD)
