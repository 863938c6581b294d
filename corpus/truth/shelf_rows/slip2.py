import shelve

with shelve.open("measures") as shelf:
    shelf["harbour"] = []
    shelf["harbour"][-1]
