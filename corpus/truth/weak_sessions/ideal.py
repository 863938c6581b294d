import weakref


class Session:
    pass


sessions = weakref.WeakValueDictionary()
sessions["alice"] = Session()
sessions["alice"]
