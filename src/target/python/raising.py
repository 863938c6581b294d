

if __name__ == "__main__":
    import pytest

    class Raise:
        def pytest_exception_interact(self, call):
            raise call.excinfo.value

        def pytest_internalerror(self, excinfo):
            raise excinfo.value

    raise SystemExit(pytest.main([__file__ + NODE, "-p", "no:cacheprovider"], plugins=[Raise()]))
