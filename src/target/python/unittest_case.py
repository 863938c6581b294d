# Runs one test of unittest's, and tells how it failed and what it is made of.
import os, types, unittest

WORK = os.path.realpath(os.getcwd())


def tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests(test)
        else:
            yield test


def short(test):
    return test.id().partition(".")[2] if test.id().startswith(question["module"] + ".") else test.id()


class Result(unittest.TestResult):
    failure = reason = None

    def note(self, test, error):
        if self.failure:
            return
        kind, value, traceback = error
        code = ""
        while traceback is not None:
            file = traceback.tb_frame.f_code.co_filename
            if os.path.realpath(file) == source_file:
                code = lines[traceback.tb_lineno - 1].strip()
            traceback = traceback.tb_next
        self.failure = {"class": kind.__qualname__.rpartition(".")[2], "message": str(value), "code": code}

    def addError(self, test, error):
        self.note(test, error)

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.note(test, error)

    def addSkip(self, test, reason):
        self.reason = reason

    def addExpectedFailure(self, test, error):
        self.reason = "it is expected to fail, and does"

    def addUnexpectedSuccess(self, test):
        self.failure = self.failure or {"class": "", "message": "it was expected to fail, and passes", "code": ""}


def main():
    # As the module that it is: the blocks for a script do not run.
    module = types.ModuleType(question["module"])
    module.__file__ = source_file
    sys.modules[question["module"]] = module
    exec(compile(question["source"], source_file, "exec"), module.__dict__)
    loaded = unittest.defaultTestLoader.loadTestsFromName(question["name"], module)
    found = list(tests(loaded))
    missing = [test for test in found if type(test).__name__ == "_FailedTest"]
    if missing or not found:
        every = unittest.defaultTestLoader.loadTestsFromModule(module)
        said = str(getattr(missing[0], "_exception", "")) if missing else ""
        return {"items": [], "said": said, "known": [short(test) for test in tests(every)]}
    record = {"items": [short(test) for test in found]}
    if len(found) > 1:
        return record
    test = found[0]
    result = Result()
    unittest.TestSuite([test]).run(result)
    record["failure"], record["skipped"] = result.failure, result.reason
    record["class"] = type(test).__qualname__
    record["method"] = test._testMethodName
    record["fixtures"] = [name for name in ("setUpModule", "tearDownModule") if hasattr(module, name)]
    return record


source_file = os.path.realpath(__file__)
lines = question["source"].splitlines()
del sys.argv[1:]
answer(main(), sys.__stdout__)
