import functools

functools.partial(print).route
