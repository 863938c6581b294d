found = set()
expected = {}
for row in [1, 2.5, True, "a"]:
    found.add(row)
    expected.setdefault(str(row), row)
assert len(found) == len(expected), "a group is lost"
