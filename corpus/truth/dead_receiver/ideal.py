import weakref


class Listener:
    pass


lost = Listener()
proxy = weakref.proxy(lost)
del lost
getattr(proxy, "heard")
