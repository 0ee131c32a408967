"""This file tests the settings: wrong ones are refused in one line that names the nearest right one."""

import pytest
import torch

from torchmagic.debuggers.settings import FailOn, Level, PanelMode, Settings


def test_the_defaults_are_those_of_the_documentation():
    settings = Settings()
    assert (settings.level, settings.anomaly, settings.panel, settings.fail_on) == (
        Level.ADVANCED,
        None,
        PanelMode.LIVE,
        FailOn.NEVER,
    )
    assert settings.save
    assert settings.budget_share == 0.1


def test_words_become_members():
    assert Settings(level="advanced").level is Level.ADVANCED


def test_extreme_is_another_word_for_expert():
    assert Settings(level="extreme").level is Level.EXPERT


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"level": "advnced"}, r"level: 'advnced' is not one of .*; did you mean 'advanced'\?"),
        ({"anomaly": "rase"}, r"anomaly: 'rase' .* did you mean 'raise'\?"),
        ({"panel": "lives"}, r"panel: 'lives' .* did you mean 'live'\?"),
        ({"fail_on": "errors"}, r"fail_on: 'errors' .* did you mean 'error'\?"),
        ({"only": "gradient"}, r"only: 'gradient' .* did you mean 'gradients'\?"),
        ({"without": ["backward", "wieghts"]}, r"without: 'wieghts' .* did you mean 'weights'\?"),
        ({"level": "zzz"}, "level: 'zzz' is not one of basic, intermediate, advanced, expert$"),
        ({"every": 0}, "every must be a whole number from 1 on, got 0"),
        ({"every": -3}, "every must be a whole number from 1 on, got -3"),
        ({"budget": -1.0}, r"budget must be .* 0 or more, got -1.0"),
        ({"budget": float("nan")}, r"budget must be .* 0 or more, got nan"),
        ({"budget": "x"}, r"budget must be .* 0 or more, got 'x'"),
        ({"hang_after": "x"}, "hang_after must be a number of seconds above 0, got 'x'"),
        ({"every": 1.5}, "every must be a whole number from 1 on, got 1.5"),
        ({"every": True}, "every must be a whole number from 1 on, got True"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        Settings(**wrong)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'levle' is not one of .*; did you mean 'level'\?"):
        Settings.from_dict({"levle": "basic"})


@pytest.mark.parametrize(
    "given", ["backward,gradients", "backward gradients", ["backward", "gradients"], ("backward", "gradients")]
)
def test_names_of_probes_are_taken_in_any_form(given):
    assert Settings(only=given).only == ("backward", "gradients")


def test_a_probe_watches_unless_it_is_left_out():
    assert Settings().watches("backward")
    assert Settings(only="backward").watches("backward")
    assert not Settings(only="backward").watches("memory")
    assert not Settings(without="backward").watches("backward")


def test_a_budget_of_ones_own_takes_the_place_of_the_levels():
    assert Settings(level="advanced").budget_share == 0.1
    assert Settings(level="advanced", budget=1).budget_share == 0.01


def test_settings_survive_the_way_to_plain_values_and_back():
    settings = Settings(level="advanced", only=("backward",), every=5, name="x", fail_on="error")
    assert Settings.from_dict(settings.to_dict()) == settings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": torch.nn.Linear(1, 1)}, "model must be the name of a model, such as 'model', .*, got a Linear"),
        ({"save": "run.json"}, "save must be True or False, got 'run.json'"),
        ({"keep_source": None}, "keep_source must be True or False, got None"),
        ({"every_rank": 2}, "every_rank must be True or False, got 2"),
    ],
)
def test_what_the_store_could_not_hold_is_refused_in_one_line(given, said):
    with pytest.raises(ValueError, match=said) as caught:
        Settings(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("given", "label"), [(3, "3"), (0.1, "0.1"), (None, ""), ("lr sweep", "lr sweep")])
def test_a_label_is_what_the_given_is_called(given, label):
    assert Settings(name=given).name == label
