import weakref

class Person:
    __slots__ = ()

    def f(self): ...

weakref.WeakMethod(Person().f)
