import xml.etree.ElementTree as ET


class Entry:
    def __init__(self, title):
        self.title = title


FEED = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:extra">
  <entry><title>First</title><x:score>3</x:score></entry>
  <entry><title>Second</title></entry>
</feed>
"""
spaces = {"a": "http://www.w3.org/2005/Atom"}


def entries():
    for node in ET.fromstring(FEED).findall("a:entry", spaces):
        score = node.find("x:score")
        if not score:
            yield Entry(node.find("a:title", spaces).text)


scores = {entry.title: 0 for entry in entries()}
assert scores == {"First": 3, "Second": 0}, scores
