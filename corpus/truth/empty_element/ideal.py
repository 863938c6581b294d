import xml.etree.ElementTree as ET

root = ET.fromstring("<feed><entry><title>First</title><score>3</score></entry><entry><title>Second</title></entry></feed>")
scores = {}
for node in root.findall("entry"):
    score = node.find("score")
    scores[node.find("title").text] = int(score.text) if score else 0
assert scores == {"First": 3, "Second": 0}, scores
