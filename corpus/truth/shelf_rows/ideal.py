import shelve

with shelve.open("measures") as shelf:
    shelf["harbour"] = []
    shelf["harbour"].append(12.5)
    shelf["harbour"][-1]
