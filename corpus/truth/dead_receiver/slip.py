import weakref


class Listener:
    def heard(self):
        pass


lost = Listener()
proxy = weakref.proxy(lost.heard)
getattr(proxy, "heard")
