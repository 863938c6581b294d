"""Runs a script as `__main__` and notes what it does. For CPython 3.8 or later.

Modules of the standard library are imported where they are used: what a script finds imported must not depend on whether
it is traced.
"""
