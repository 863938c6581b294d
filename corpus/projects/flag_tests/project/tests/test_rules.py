from datetime import date

import pytest

from flags import Flag, User, is_on


def test_groups_come_first(staff):
    assert is_on(Flag("new", enabled=False, groups=frozenset({"staff"})), staff)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_share_of_crowd(crowd, share):
    flag = Flag("new", share=share)
    on = sum(is_on(flag, user) for user in crowd)
    assert on / len(crowd) == pytest.approx(share, abs=0.1)


def test_ends():
    flag = Flag("old", until=date(2020, 1, 1))
    assert is_on(flag, User("b"), today=date(2020, 1, 1))
    assert not is_on(flag, User("b"), today=date(2020, 1, 2))


def test_share_is_checked():
    with pytest.raises(ValueError, match="share"):
        Flag("new", share=1.5)
