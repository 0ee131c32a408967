"""Options are read from one table, and a wrong one is one line that names the right one."""

import pytest
from IPython.core.error import UsageError

from torchmagic.debuggers.settings import PROBES, Settings
from torchmagic.debuggers.switches import Switches
from torchmagic.jupyter.cell_magics import TORCHDEBUG, asks
from torchmagic.jupyter.options import OPTIONS
from torchmagic.jupyter.parsing import answer, parse


def read(line, **defaults):
    return parse(TORCHDEBUG, line, defaults)[0]


def test_without_options_the_defaults_hold():
    assert read("") == Settings()
    assert read("", level="expert", save=False) == Settings(level="expert", save=False)


def test_every_option_sets_its_field():
    line = (
        "--level extreme --only backward,gradients --without memory --anomaly=raise --every 5 --budget 2.5% "
        "--model net --name 'a run' --panel text --no-save --fail-on warning --report 'out dir/x.html'"
    )
    assert read(line) == Settings(
        level="expert",
        only=("backward", "gradients"),
        without=("memory",),
        anomaly="raise",
        every=5,
        budget=2.5,
        model="net",
        name="a run",
        panel="text",
        save=False,
        fail_on="warning",
        report="out dir/x.html",
    )


def test_every_settings_field_has_an_option_but_thresholds_which_are_configured():
    assert {option.field for option in OPTIONS} == {*Settings.__dataclass_fields__, "mode"} - {"thresholds"}


def test_rules_to_ignore_are_names_or_patterns():
    assert read("--ignore dead-relu,missing-*").ignore == ("dead-relu", "missing-*")
    with pytest.raises(UsageError, match="there is no rule 'dead-rel'; did you mean 'dead-relu'"):
        read("--ignore dead-rel")


def test_a_page_is_asked_for_by_the_id_of_its_rule():
    assert asks(" --explain dead-relu")
    assert answer(TORCHDEBUG, "--explain dead-relu").startswith("dead-relu\n")
    assert answer(TORCHDEBUG, "--help") == TORCHDEBUG.help_text()
    with pytest.raises(UsageError, match="there is no rule 'dead-rel'; did you mean 'dead-relu'"):
        answer(TORCHDEBUG, "--explain dead-rel")


def test_what_is_typed_outweighs_the_mode_and_the_mode_the_defaults():
    assert read("--mode memory_profiling", only=("backward",)).only == ("memory",)
    assert read("--mode memory_profiling --only backward").only == ("backward",)
    assert read("--mode full_debug").level == "expert"
    assert read("--mode none").without == PROBES


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--levl basic", "%%torchdebug: there is no option '--levl'; did you mean --level?"),
        ("--zzz", "%%torchdebug: there is no option '--zzz'; %%torchdebug --help lists all"),
        (
            "--only gradeints",
            f"%%torchdebug: --only wants some of {', '.join(PROBES)}, got 'gradeints'; did you mean 'gradients'?",
        ),
        ("--every many", "%%torchdebug: --every wants a whole number, got 'many'"),
        ("--every 0", "%%torchdebug: every must be a whole number from 1 on, got 0"),
        ("--budget much", "%%torchdebug: --budget wants a number of percent, got 'much'"),
        ("--name", "%%torchdebug: --name wants LABEL, got nothing"),
        ("--name --save", "%%torchdebug: --name wants LABEL, got '--save'"),
        ("--save=yes", "%%torchdebug: --save takes no value, got 'yes'"),
        ("--name 'open", '%%torchdebug: no closing quotation in "\'open"'),
    ],
)
def test_a_wrong_option_is_one_line(line, message):
    with pytest.raises(UsageError) as caught:
        read(line)
    assert str(caught.value) == message


def test_what_follows_the_options_is_left_as_it_was_typed():
    settings, statement = parse(TORCHDEBUG, "--every 2 --no-save f('a  b', \"c\\n\", {x}) # it's", {})
    assert settings.every == 2
    assert statement == "f('a  b', \"c\\n\", {x}) # it's"


def test_help_names_every_option_with_its_choices():
    text = TORCHDEBUG.help_text()
    for option in OPTIONS:
        assert f"  {option.flag}" in text
        assert " | ".join(option.choices) in text
    assert asks(" --every 2 --help")
    assert not asks("f('--help') --help")


def test_what_is_typed_outweighs_the_switches_and_these_the_configuration():
    mine = Switches()
    mine.enable("memory")
    mine.disable("data", "gradients")
    mine.set_level("basic")
    under = mine.over({"level": "expert", "without": ("memory",), "budget": 3.0})
    plain = read("", **under)
    assert (plain.level, plain.watches("memory"), plain.watches("gradients"), plain.budget) == ("basic", True, False, 3)
    assert read("--level advanced", **under).level == "advanced"
    only = read("--only gradients", **under)
    assert [name for name in PROBES if only.watches(name)] == ["gradients"]
    assert not read("--without memory", **under).watches("memory")
    assert read("--also data --no-source", level="basic").watches("data")
    assert (read("--no-source").keep_source, read("").keep_source) == (False, True)


@pytest.mark.parametrize("line", ["--lvl basic", "--every x", "something", "on"])
def test_a_wrong_header_is_one_line_and_the_cell_does_not_run(shell, capsys, line):
    shell.run_line_magic("load_ext", "torchmagic")
    result = shell.run_cell(f"%%torchdebug {line}\nran = True")
    printed = capsys.readouterr()
    assert isinstance(result.error_in_exec, UsageError)
    assert printed.err.startswith("UsageError: %%torchdebug")
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert "ran" not in shell.user_ns


def test_names_of_the_notebook_may_stand_in_the_header(shell, capsys):
    import torchmagic  # noqa: PLC0415 - beside its only use

    shell.run_line_magic("load_ext", "torchmagic")
    shell.user_ns["n"] = 3
    assert shell.run_cell("%%torchdebug --name run{n} --every $n --panel none --no-save\nx = 1").success
    assert (torchmagic.session.last.name, torchmagic.session.last.settings["every"]) == ("run3", 3)
