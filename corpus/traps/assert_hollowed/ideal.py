import datetime

start = datetime.date(1, 1, 31)
due = start + datetime.timedelta(30)
expected = (start.month + 1 - 1) % 12 + 1
assert due.month == expected, "month end"
