import xml.etree.ElementTree as ET

FEED = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:extra">
  <title>News</title>
  <entry><title>First</title><x:score>3</x:score></entry>
  <entry><title>Second</title></entry>
</feed>
"""


class Entry:
    def __init__(self, title, score):
        self.title = title
        self.score = score


class Feed:
    spaces = {"a": "http://www.w3.org/2005/Atom", "x": "urn:extra"}

    def __init__(self, text):
        self.root = ET.fromstring(text)

    def entries(self):
        for node in self.root.findall("a:entry", self.spaces):
            title = node.find("a:title", self.spaces)
            score = node.find("x:score", self.spaces)
            if not score:
                yield Entry(title.text, 0)
            else:
                yield Entry(title.text, int(score.text))


scores = {entry.title: entry.score for entry in Feed(FEED).entries()}
print(scores)
assert scores == {"First": 3, "Second": 0}, scores
