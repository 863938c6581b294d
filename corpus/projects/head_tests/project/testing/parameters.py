"""Tests with parameters: one method for each of their values."""
import functools


class subtest:
    """A value with a name of its own."""

    def __init__(self, value, name):
        self.value = value
        self.name = name


def parametrize(argument, values):
    def mark(function):
        pairs = [
            (value.value, value.name) if isinstance(value, subtest) else (value, str(value))
            for value in values
        ]
        function.parameters = [*getattr(function, "parameters", ()), (argument, pairs)]
        return function

    return mark


def _with(function, arguments):
    @functools.wraps(function)
    def test(self):
        return function(self, **arguments)

    del test.parameters
    return test


def instantiate(case):
    """Replaces the methods of a test case that have parameters."""
    for name, function in list(vars(case).items()):
        parameters = getattr(function, "parameters", None)
        if not parameters:
            continue
        combinations = [({}, name)]
        for argument, pairs in parameters:
            combinations = [
                ({**arguments, argument: value}, f"{so_far}_{suffix}")
                for arguments, so_far in combinations
                for value, suffix in pairs
            ]
        delattr(case, name)
        for arguments, full in combinations:
            setattr(case, full, _with(function, arguments))
    return case
