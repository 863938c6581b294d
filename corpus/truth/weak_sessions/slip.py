import weakref

weakref.WeakValueDictionary()["alice"]
