"""This file tests the settings of a profile."""

from pathlib import Path

import pytest

from torchmagic.profiling.settings import ProfileSettings


def test_the_defaults_leave_two_steps_out_and_profile_twenty():
    settings = ProfileSettings()
    assert (settings.wait, settings.warming, settings.active, settings.options) == (0, 2, 20, ())


def test_a_quick_profile_takes_one_and_three():
    settings = ProfileSettings(quick=True)
    assert (settings.warming, settings.active) == (1, 3)


def test_steps_that_were_chosen_stay_in_a_quick_profile():
    settings = ProfileSettings(quick=True, steps=7, warmup=0)
    assert (settings.warming, settings.active) == (0, 7)


def test_settings_come_back_from_plain_values():
    settings = ProfileSettings(steps=3, memory=True, trace=Path("t.json"))
    assert ProfileSettings.from_dict(settings.to_dict()) == settings
    assert settings.options == ("memory",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 0}, "steps must be a whole number of optimizer steps from 1 on, got 0"),
        ({"wait": -1}, "wait must be a whole number of optimizer steps from 0 on, got -1"),
        ({"warmup": 1.5}, "warmup must be a whole number of optimizer steps from 0 on, got 1.5"),
        ({"steps": True}, "steps must be a whole number of optimizer steps from 1 on, got True"),
        ({"memory": "yes"}, "memory must be True or False, got 'yes'"),
        ({"trace": 3}, "trace must be a path, empty for none, got 3"),
    ],
)
def test_a_wrong_value_is_said_in_one_line(values, message):
    with pytest.raises(ValueError, match="must be") as caught:
        ProfileSettings(**values)
    assert str(caught.value) == message


def test_an_unknown_name_is_told_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"'warm_up' is not one of .*; did you mean 'warmup'\?"):
        ProfileSettings.from_dict({"warm_up": 3})
