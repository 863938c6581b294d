"""An interpreter that has imported what a script imports, and forks a child for each run of it.

A child sets its own arguments, streams and folders, writes the path of its script over the one the interpreter was started
with, and returns to the interpreter. What was imported ahead is out of sight in a child until the script imports it; then
all that this import would have brought comes with it, and what it printed is printed. If the environment is not as it was
when a module was imported, the child leaves a note and ends: that run is for another zygote. The same holds for a script
that has changed how Python imports: that run is for no zygote.

Orders and answers are packets of JSON on the socket named by MINREPRO_ZYGOTE; the plan is the file named by
MINREPRO_PLAN. For CPython 3.8 or later with ctypes, on Linux.
"""
