"""A dry run although it is switched off."""

import argparse
import sys

STEPS = {"deploy": ["build", "upload"], "undo": ["restart"]}


def parser():
    found = argparse.ArgumentParser(prog="ship")
    found.add_argument("task", choices=sorted(STEPS))
    found.add_argument("--dry", type=bool, default=True)
    found.add_argument("--tries", type=int, default=1)
    return found


class Runner:
    def __init__(self, options):
        self.options = options
        self.done = []

    def step(self, name):
        if self.options.dry:
            print("would", name)
            return
        self.done.append(name)

    def run(self):
        for name in STEPS[self.options.task]:
            self.step(name)
        return self.done


options = parser().parse_args(["deploy", "--dry", "False", "--tries", "2"])
done = Runner(options).run()
if not done:
    print("NOTHING WAS DONE")
    sys.exit(1)
print("done:", done)
