"""Runs tests of a checkout and writes down how each ended. Sent as the script of a run; the checkout
that it changes is the run's own copy."""


def _run(order):
    import json, os, sys

    out = os.environ["MINREPRO_ARTIFACTS"]
    root = order["root"]
    os.chdir(root)
    for path, text in order["write"].items():
        with open(path, "wb") as file:
            file.write(bytes.fromhex(text))
    for path in order["remove"]:
        os.remove(path)
    sys.path[0] = os.path.dirname(os.path.join(root, order["file"]))
    sys.path.insert(1, root)
    ends = {}

    def wanted(kind, name):
        """The tests asked for that a test is one of: by its names, or made of it for a device."""
        found = [each for each in order["tests"] if each[0] == kind and each[1] in (name, "")]
        if found:
            return found
        is_made = lambda each: kind.startswith(each[0]) and each[0] and name.startswith(each[1] + "_")
        return [each for each in order["tests"] if is_made(each) and not exact(each)]

    known = set()

    def exact(each):
        return tuple(each) in known

    def note(each, end, raised=""):
        # Of a test with parameters, and of a class, the worst end counts.
        ends.setdefault("::".join(each), []).append([end, raised])

    def write():
        with open(os.path.join(out, "ends.json"), "w") as file:
            json.dump(ends, file)

    try:
        import pytest
    except ImportError:
        pytest = None

    if pytest is not None:

        class Plugin:
            def pytest_collection_modifyitems(self, session, config, items):
                names = [(item.cls.__name__ if getattr(item, "cls", None) else "", getattr(item, "originalname", None) or item.name) for item in items]
                known.update(names)
                chosen = []
                for item, name in zip(items, names):
                    item.minrepro_tests = wanted(*name)
                    if item.minrepro_tests:
                        chosen.append(item)
                items[:] = chosen

            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(self, item, call):
                outcome = yield
                report = outcome.get_result()
                raised = ""
                if call.excinfo is not None:
                    raised = call.excinfo.typename + ": " + str(call.excinfo.value)[:200]
                if hasattr(report, "wasxfail"):
                    end = "xfailed" if report.skipped else "xpassed"
                elif report.skipped:
                    end = "skipped"
                elif report.failed and (str(report.longrepr).startswith("[XPASS") or str(report.longrepr).startswith("Unexpected success")):
                    end = "xpassed"
                elif report.failed:
                    end = "failed" if report.when == "call" else "broken"
                elif report.when == "call":
                    end = "passed"
                else:
                    return
                for each in item.minrepro_tests:
                    note(each, end, raised)

            def pytest_collectreport(self, report):
                if report.failed:
                    ends["collection"] = [["broken", str(report.longrepr)[-300:]]]

        pytest.main(
            [os.path.join(root, order["file"]), "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=", "--rootdir", root],
            plugins=[Plugin()],
        )
        write()
        return
    import importlib.util, unittest

    class Result(unittest.TestResult):
        def end(self, test, end, error=None):
            kind, name = type(test).__name__, getattr(test, "_testMethodName", "")
            raised = "%s: %s" % (error[0].__name__, str(error[1])[:200]) if error else ""
            for each in wanted(kind, name):
                note(each, end, raised)

        def addSuccess(self, test):
            self.end(test, "passed")

        def addError(self, test, error):
            self.end(test, "failed", error)

        def addFailure(self, test, error):
            self.end(test, "failed", error)

        def addSkip(self, test, reason):
            self.end(test, "skipped")

        def addExpectedFailure(self, test, error):
            self.end(test, "xfailed", error)

        def addUnexpectedSuccess(self, test):
            self.end(test, "xpassed")

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self.end(test, "failed", error)

    try:
        name = os.path.splitext(os.path.basename(order["file"]))[0]
        spec = importlib.util.spec_from_file_location(name, os.path.join(root, order["file"]))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    except BaseException as error:
        ends["collection"] = [["broken", type(error).__name__ + ": " + str(error)[:200]]]
        write()
        return

    def each_test(suite):
        for part in suite:
            if isinstance(part, unittest.TestSuite):
                yield from each_test(part)
            else:
                yield part

    tests = list(each_test(suite))
    known.update((type(test).__name__, getattr(test, "_testMethodName", "")) for test in tests)
    chosen = [test for test in tests if wanted(type(test).__name__, getattr(test, "_testMethodName", ""))]
    unittest.TestSuite(chosen).run(Result())
    write()
