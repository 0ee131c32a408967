"""This file tests that a value on a device that is not finite is traced as one on the host is."""

import pytest

# What steps them again copies the optimizer, which the simulated device cannot.
WITHOUT_COPIES = {"adam without epsilon", "an update that divides zero by zero"}


@pytest.fixture(scope="module")
def origins(told_by):
    return told_by("origins.py")


def test_operator_and_line_are_those_that_the_host_tells(origins):
    ran = {name: told for name, told in origins["harmful"].items() if not told["raised"]}
    assert len(ran) >= 85
    assert [name for name, told in ran.items() if told["failures"]] == []
    again = {name: told for name, told in ran.items() if name not in WITHOUT_COPIES}
    assert [name for name, told in again.items() if told["line"] != told["wanted"]] == []
    assert [name for name, told in again.items() if told["ops"] and told["op"] not in told["ops"]] == []


def test_what_is_harmless_is_silent(origins):
    ran = {name: told for name, told in origins["harmless"].items() if not told["raised"]}
    assert len(ran) >= 8
    assert [name for name, told in ran.items() if told["found"] or told["failures"]] == []
