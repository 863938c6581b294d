import shlex

SCRIPT = """
fill box red       # the outer frame
fill line #a0a0ff
# done
"""


def commands(text):
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def draw(text):
    drawn = []
    for words in commands(text):
        verb, shape, colour = words
        drawn.append((verb, shape, colour))
    return drawn


print(draw(SCRIPT))
