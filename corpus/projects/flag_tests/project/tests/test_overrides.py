import json

import pytest


@pytest.fixture
def override(monkeypatch):
    """Sets options of flags by the environment."""

    def set_option(flag, **options):
        for option, value in options.items():
            monkeypatch.setenv(f"FLAG_{flag}_{option}".upper(), value)

    return set_option


class TestOverrides:
    def setup_method(self):
        self.flag = "checkout"

    def test_defaults(self, store, staff):
        assert len(store.load()) == 3
        assert store.is_on(self.flag, staff)

    @pytest.mark.parametrize(
        ["text", "expected"],
        [
            pytest.param("0.4", 0.4, id="number"),
            pytest.param("40%", 0.4, id="percent"),
            pytest.param("1", 1.0, id="whole"),
        ],
    )
    def test_share(self, store, override, crowd, text, expected):
        override(self.flag, enabled="on", share=text, groups="")
        store.load()
        assert store.flags[self.flag].share == pytest.approx(expected)
        on = [user for user in crowd if store.is_on(self.flag, user)]
        assert 0 < len(on) <= len(crowd)

    def test_unknown(self, store, override, environment):
        override("nothing", enabled="on")
        if environment.strict:
            with pytest.raises(LookupError):
                store.load()
        else:
            assert "nothing" not in store.load()

    def test_audit(self, store, staff, audit):
        store.load().is_on("search", staff)
        audit.close()
        line = json.loads(audit.path.read_text())
        assert line == {"flag": "search", "user": "ada", "answer": True}
