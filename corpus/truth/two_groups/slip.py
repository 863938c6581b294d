found = set()
for row in [1, 2.5, "a"]:
    found.add(row)
expected = {}
for other in [1, 2, 2.5, "a"]:
    expected.setdefault(str(other), other)
assert len(found) == len(expected), "a group is lost"
