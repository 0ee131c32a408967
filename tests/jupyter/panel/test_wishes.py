"""This file is the wishes of the panel's controls, and what of them a watch is to do."""

import pytest

from torchmagic.debuggers.settings import PROBES, Level, Settings
from torchmagic.jupyter.panel.wishes import watched, wished

STATES = [
    Settings(),
    Settings(level="basic"),
    Settings(level="expert", without="memory"),
    Settings(only="gradients memory"),
    Settings(level="basic", also="memory", without="gradients"),
]


@pytest.mark.parametrize("settings", STATES)
@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("probe", PROBES)
def test_a_switch_moves_its_own_probe_and_no_other(settings, probe, on):
    after = wished(settings, {"probe": probe, "on": on})
    assert after.watches(probe) is on
    assert {name: after.watches(name) for name in PROBES if name != probe} == {
        name: settings.watches(name) for name in PROBES if name != probe
    }


def test_a_level_is_taken_by_its_name():
    assert wished(Settings(), {"level": "basic"}).level is Level.BASIC


@pytest.mark.parametrize("wish", [{}, {"level": "loud"}, {"probe": "everything", "on": True}, {"level": ["basic"]}])
def test_what_does_not_exist_cannot_be_wished(wish):
    assert wished(Settings(), wish) == Settings()


def test_the_controls_show_what_is_in_force():
    shown = watched(Settings(level="basic", also="memory", without="gradients"))
    assert shown["level"] == "basic"
    assert [name for name, on in shown["probes"].items() if on] == [
        "anomaly",
        "forward",
        "backward",
        "performance",
        "memory",
    ]
