"""Stands for a warm interpreter: forks two scripts, one after the other, each confined by `confine.py`."""

import json
import os
import sys
import traceback

sys.path.insert(0, os.path.join(os.getcwd(), "lib"))
import confine

session = os.getcwd()
cache = session + "/cache"
os.mkdir(cache)
how = json.loads(sys.argv[1])
confinement = confine.Confinement(how["namespaces"], how["landlock"], session, how["devices"], how["shared"])


def run(source, work):
    os.setpgid(0, 0)
    os.chdir(work)
    os.environ["TMPDIR"] = work
    os.dup2(2, 1)
    try:
        exec(compile(source, "script.py", "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)


for number, source in enumerate([how["source"], "print(1)"]):
    scratch = "%s/run-%d" % (session, number)
    os.mkdir(scratch)
    os.mkdir(scratch + "/work")
    between = confinement.fork()
    if between == 0:
        confinement.enter([scratch, cache])
        child = os.fork()
        if child == 0:
            confinement.begin([scratch, cache])
            run(source, scratch + "/work")
        os.waitpid(child, 0)
        os._exit(0)
    os.waitpid(between, 0)
    print("next", flush=True)
