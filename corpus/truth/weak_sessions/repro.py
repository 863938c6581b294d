import weakref


class Session:
    def __init__(self, user, level):
        self.user = user
        self.level = level


class Registry:
    def __init__(self):
        self.sessions = weakref.WeakValueDictionary()

    def open(self, user, level=1):
        self.sessions[user] = Session(user, level)
        return user

    def level(self, user):
        return self.sessions[user].level


registry = Registry()
names = [registry.open("alice", 3), registry.open("bob")]
print("opened", names)
for name in names:
    print(name, registry.level(name))
