titles = ["order", " bill"]
rows = iter("name street\nname total\n".splitlines())
next(rows)
forms = {}
for title, row in zip(titles, rows):
    forms[title] = row.split()
known = {title.strip().upper() for title in forms}
problems = []
for title in titles:
    if title.strip().upper() not in known:
        problems.append("one form is missing")
for problem in problems:
    print("FAILED:", problem)
