"""Figures that the whole package uses."""

DAYS = 7
HOURS = {"early": (6, 14), "late": (14, 22), "night": (22, 6)}
FULL_TIME = 42
#: Hours between two shifts of a person, at least.
REST = 11
COLUMN = 12

_PER_SHIFT = 8
#: Shifts in a week of someone who works full time.
FULL_WEEK = FULL_TIME // _PER_SHIFT
