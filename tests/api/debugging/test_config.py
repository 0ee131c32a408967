"""A debugger's configuration: fields of all documents, one source with the options of the magics, clear errors."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.api.debugging.config import FIELDS, SWITCHES, VARIABLES, DebugConfig
from torchmagic.api.debugging.config_values import read
from torchmagic.api.debugging.modes import DebugLevel, DebugMode
from torchmagic.api.debugging.pace import due_probes
from torchmagic.debuggers.modes import MODES
from torchmagic.debuggers.settings import PROBES, Anomaly, Level, Settings
from torchmagic.debuggers.switches import probe_named
from torchmagic.jupyter.options import watched_settings

OF_THE_DOCUMENTS = {
    "mode": DebugMode.NONE,
    "level": DebugLevel.BASIC,
    "anomaly_detection_mode": "warn",
    "gradient_checking_frequency": 100,
    "memory_profiling_frequency": 50,
    "performance_profiling_frequency": 10,
    "save_debug_info": True,
    "debug_output_dir": "debug_outputs",
    "log_memory": True,
    "log_performance": True,
}


def test_every_field_of_the_documents_is_there_with_its_default():
    assert DebugConfig().to_dict() == {**dict.fromkeys(FIELDS, False), **OF_THE_DOCUMENTS}
    assert set(SWITCHES) < set(FIELDS)


def test_fields_may_be_given_by_place_as_the_documents_declare_them():
    config = DebugConfig(DebugMode.MEMORY_PROFILING, DebugLevel.INTERMEDIATE)
    assert (config.mode, config.level) == (DebugMode.MEMORY_PROFILING, DebugLevel.INTERMEDIATE)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"level": "advancd"}, "level: 'advancd' is not one of .*did you mean 'advanced'"),
        ({"mode": "memory_profile"}, "mode: 'memory_profile' is not one of .*did you mean 'memory_profiling'"),
        ({"mode": 3}, "mode: 3 is not one of none, "),
        ({"anomaly_detection_mode": "rise"}, "anomaly_detection_mode: 'rise' .*did you mean 'raise'"),
        ({"gradient_checking_frequency": 0}, "gradient_checking_frequency must be a whole number from 1 on, got 0"),
        ({"memory_profiling_frequency": True}, "memory_profiling_frequency must be a whole number .* got True"),
        ({"performance_profiling_frequency": 2.0}, "must be a whole number from 1 on, got 2.0"),
        ({"log_memory": 1}, "log_memory must be True or False, got 1"),
        ({"debug_output_dir": " "}, "debug_output_dir must be the path of a folder"),
        ({"debug_output_dir": None}, "debug_output_dir must be the path of a folder"),
        ({"debug_memory_usag": True}, "'debug_memory_usag' is not one of .*did you mean 'debug_memory_usage'"),
    ],
)
def test_a_wrong_value_is_one_line_that_says_what_was_wanted(wrong, said):
    with pytest.raises(ValueError, match=said) as error:
        DebugConfig.from_dict(wrong)
    assert "\n" not in str(error.value)


def test_a_field_that_is_set_later_is_checked_as_well():
    config = DebugConfig()
    config.level = "EXPERT"
    assert config.level is DebugLevel.EXPERT
    with pytest.raises(ValueError, match="level: 'deep'"):
        config.level = "deep"
    with pytest.raises(AttributeError, match=r"'levl' is not one of .*did you mean 'level'"):
        config.levl = "basic"
    assert config.level is DebugLevel.EXPERT


KINDS = {
    "mode": st.sampled_from(DebugMode),
    "level": st.sampled_from(DebugLevel),
    "anomaly_detection_mode": st.sampled_from([each.value for each in Anomaly]),
    "debug_output_dir": st.text(min_size=1).filter(str.strip),
    **{name: st.integers(1, 10_000) for name in FIELDS if name.endswith("_frequency")},
}
CONFIGS = st.builds(DebugConfig, **{name: KINDS.get(name, st.booleans()) for name in FIELDS})


@given(CONFIGS)
def test_a_configuration_survives_json(config):
    assert DebugConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@given(CONFIGS)
def test_every_configuration_is_a_setting_of_a_watched_run_with_the_same_probes(config):
    settings = config.settings(name="mine")
    assert tuple(name for name in PROBES if settings.watches(name)) == config.probes
    assert (settings.name, settings.save) == ("mine", config.save_debug_info)
    assert Settings.from_dict(settings.to_dict()) == settings


@given(CONFIGS)
def test_everything_is_due_at_first_and_anomalies_always(config):
    assert due_probes(config, 0) == config.probes
    later = due_probes(config, 10_007)
    assert set(later) <= set(config.probes)
    assert ("anomaly" in later) == ("anomaly" in config.probes)


@pytest.mark.parametrize(
    "mode", [mode for mode in DebugMode if mode.value in MODES and mode is not DebugMode.FULL_DEBUG]
)
def test_a_mode_watches_what_the_same_mode_of_the_magic_watches(mode):
    mine, magic = DebugConfig(mode=mode).settings(), watched_settings({}, {"mode": mode.value})
    assert [mine.watches(name) for name in PROBES] == [magic.watches(name) for name in PROBES]


@pytest.mark.parametrize("level", [DebugLevel.EXPERT, DebugLevel.EXTREME])
def test_full_debug_at_the_highest_level_is_the_full_debug_of_the_magic(level):
    mine = DebugConfig(mode=DebugMode.FULL_DEBUG, level=level).settings()
    magic = watched_settings({}, {"mode": "full_debug"})
    assert mine.level is magic.level is Level.EXPERT
    assert all(mine.watches(name) and magic.watches(name) for name in PROBES)


def test_full_debug_has_all_four_features_at_every_level():
    for level in DebugLevel:
        assert {"anomaly", "gradients", "memory", "performance"} <= set(DebugConfig("full_debug", level).probes)


def test_profiling_is_another_word():
    assert DebugConfig(mode="profiling").probes == DebugConfig(mode="performance_profiling").probes == ("performance",)


@pytest.mark.parametrize("name", [name for name in SWITCHES if name.startswith("debug_")])
def test_a_switch_is_the_probe_that_the_same_word_of_the_session_is(name):
    assert DebugConfig(**{name: True}).probes == (probe_named(name),)


def test_what_is_logged_is_watched_beside_the_mode():
    config = DebugConfig(mode="anomaly_detection", log_gradients=True, log_activations=True, log_weights=True)
    assert set(config.probes) == {"anomaly", "gradients", "activations", "weights"}


@pytest.mark.parametrize(
    ("given", "anomaly"),
    [
        ({}, Anomaly.WARN),
        ({"anomaly_detection_mode": "raise"}, Anomaly.RAISE),
        ({"anomaly_detection_mode": "detect"}, Anomaly.DETECT),
        ({"enable_autograd_anomaly": True}, Anomaly.DETECT),
        ({"enable_autograd_anomaly": True, "anomaly_detection_mode": "raise"}, Anomaly.RAISE),
    ],
)
def test_the_way_of_anomalies_is_the_option_of_the_magic(given, anomaly):
    assert DebugConfig(mode="anomaly_detection", **given).settings().anomaly is anomaly


def test_frequencies_say_what_is_due():
    config = DebugConfig(
        mode="full_debug",
        level="expert",
        gradient_checking_frequency=6,
        memory_profiling_frequency=3,
        performance_profiling_frequency=2,
    )
    assert set(due_probes(config, 1)) == {"anomaly"}
    assert set(due_probes(config, 2)) == {"anomaly", "performance", "data"}
    assert set(due_probes(config, 3)) == {"anomaly", "memory", "device"}
    assert due_probes(config, 6) == config.probes == PROBES


def test_each_field_has_a_variable():
    assert sorted(VARIABLES.values()) == sorted(each.name for each in fields(DebugConfig))
    assert VARIABLES["TORCHMAGIC_DEBUG_LEVEL"] == "level"
    assert VARIABLES["TORCHMAGIC_DEBUG_OUTPUT_DIR"] == "debug_output_dir"


def test_variables_set_fields_over_defaults():
    environment = {
        "TORCHMAGIC_DEBUG_LEVEL": "Expert",
        "TORCHMAGIC_DEBUG_MEMORY_USAGE": "yes",
        "TORCHMAGIC_DEBUG_GRADIENT_CHECKING_FREQUENCY": " 7 ",
        "PATH": "/bin",
    }
    config = DebugConfig.from_environment(environment, defaults={"level": "basic", "mode": "memory_profiling"})
    assert config == DebugConfig(
        mode="memory_profiling", level="expert", debug_memory_usage=True, gradient_checking_frequency=7
    )


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("TORCHMAGIC_DEBUG_LEVL", "basic", "did you mean 'TORCHMAGIC_DEBUG_LEVEL'"),
        ("TORCHMAGIC_DEBUG_LOG_GRADIENTS", "maybe", "TORCHMAGIC_DEBUG_LOG_GRADIENTS must be one of 1, true, .*'maybe'"),
        ("TORCHMAGIC_DEBUG_MEMORY_PROFILING_FREQUENCY", "-3", "whole number from 1 on, got '-3'"),
        ("TORCHMAGIC_DEBUG_LEVEL", "deep", "level: 'deep'"),
    ],
)
def test_a_wrong_variable_is_one_line(variable, text, said):
    with pytest.raises(ValueError, match=said):
        DebugConfig.from_environment({variable: text})


@given(st.text())
def test_no_text_of_a_variable_is_taken_for_something_else(text):
    try:
        value = read("V", "log_memory", text)
    except ValueError as error:
        assert repr(text.strip()) in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert value is (text.strip().lower() in ("1", "true", "yes", "on"))
