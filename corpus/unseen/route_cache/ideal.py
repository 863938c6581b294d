import functools

class PatternRoute:
    __slots__ = ()

    @functools.cached_property
    def regex(self):
        pass

PatternRoute().regex
