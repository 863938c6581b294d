def by_value(rows):
    groups = set()
    for row in rows:
        groups.add(row)
    return groups


def by_text(rows):
    groups = {}
    for row in rows:
        groups.setdefault(str(row), row)
    return groups


found = by_value([1, 2.5, True, "a"])
expected = by_text([1, 2.5, True, "a"])
print(len(found), "groups by value,", len(expected), "by text")
assert len(found) == len(expected), "a group is lost"
