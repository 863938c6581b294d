import argparse
import sys


class Runner:
    def __init__(self, options):
        self.options = options
        self.done = []

    def step(self):
        if self.options.dry:
            return
        self.done.append("build")

    def run(self):
        self.step()
        return self.done


parser = argparse.ArgumentParser(prog="ship")
parser.add_argument("task", choices=sorted(["deploy"]))
parser.add_argument("--dry", type=bool, default=True)
done = Runner(parser.parse_args(["deploy", "--dry", "False"])).run()
if not done:
    print("NOTHING WAS DONE")
    sys.exit(1)
