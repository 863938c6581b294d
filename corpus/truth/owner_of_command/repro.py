"""Commands of a shop know the class that they were looked up on, and count what it has in stock."""


class command:
    def __init__(self, function):
        self.function = function
        self.label = function.__name__.replace("_", "-")

    def __get__(self, instance, owner=None):
        if owner is None:
            owner = type(instance)
        return lambda *given: (self.label, self.function(owner, *given))


class Shop:
    stock = {"nut": 3, "bolt": 5}

    @classmethod
    @command
    def count_of(cls, name):
        return cls.stock.get(name, 0)


class Annex(Shop):
    stock = {"nut": 1}


for shop, name in [(Shop, "bolt"), (Annex, "nut")]:
    label, count = shop.count_of(name)
    print(label, name, count)
