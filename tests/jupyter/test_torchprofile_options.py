"""The options of ``%%torchprofile``: read from their table, completed, configured; a wrong one is one line."""

import pytest
from IPython.core.error import UsageError
from traitlets import TraitError
from traitlets.config import Config

from torchmagic.api.profile_request import SORTS, ProfileRequest
from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.cell_magics import TORCHPROFILE
from torchmagic.jupyter.completion import candidates
from torchmagic.jupyter.configuration import configured
from torchmagic.jupyter.parsing import parse
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.views import profile_operators


def read(line, **defaults):
    return parse(TORCHPROFILE, line, defaults)[0]


def test_every_option_sets_its_field():
    request = read(
        "--steps 5 --wait 1 --warmup 3 --memory --stacks --flops --shapes --sort-by total --top 7 --trace t.json.gz "
        "--tensorboard 'logs dir' --baseline 3 --quick --verify --ignore data-* --name 'a run' --panel text --no-save "
        "--no-source --report x.html --fail-on warning"
    )
    assert request.profiling == ProfileSettings(
        steps=5,
        wait=1,
        warmup=3,
        memory=True,
        stacks=True,
        flops=True,
        shapes=True,
        trace="t.json.gz",
        tensorboard="logs dir",
        quick=True,
        verify=True,
    )
    assert (request.sort_by, request.top, request.baseline) == ("total", 7, "3")
    assert request.watch == Settings(
        only=("performance",),
        budget=request.watch.budget,
        ignore=("data-*",),
        name="a run",
        panel="text",
        save=False,
        keep_source=False,
        report="x.html",
        fail_on="warning",
    )


def test_operators_can_be_sorted_by_all_that_their_page_knows():
    assert set(SORTS) == set(profile_operators.SORTS)


def test_active_is_another_word_for_steps():
    assert read("--active 9") == read("--steps 9") != read("")
    assert ProfileRequest.from_dict({"active": 9}) == ProfileRequest.from_dict({"steps": 9})


def test_every_setting_of_a_profile_has_an_option_but_lines_which_are_configured():
    fields = {option.field for option in TORCHPROFILE.options}
    assert {*ProfileSettings.__dataclass_fields__} - fields == {"lines"}
    assert {"sort_by", "top", "baseline"} <= fields


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--stepz 3", "%%torchprofile: there is no option '--stepz'; did you mean --steps?"),
        ("--zzz", "%%torchprofile: there is no option '--zzz'; %%torchprofile --help lists all"),
        ("--steps many", "%%torchprofile: --steps wants a whole number, got 'many'"),
        (
            "--steps 0",
            "%%torchprofile: steps must be a whole number of optimizer steps from 1 on, got 0",
        ),
        (
            "--sort-by onw",
            f"%%torchprofile: --sort-by wants one of {', '.join(SORTS)}, got 'onw'; did you mean 'own'?",
        ),
        ("--top -3", "%%torchprofile: top must be a whole number of operators, 0 for as many as fit, got -3"),
        ("--memory=yes", "%%torchprofile: --memory takes no value, got 'yes'"),
        ("--trace --memory", "%%torchprofile: --trace wants PATH, got '--memory'"),
        ("--ignore dead-rel", "%%torchprofile: there is no rule 'dead-rel'; did you mean 'dead-relu'?"),
    ],
)
def test_a_wrong_option_is_one_line(line, message):
    with pytest.raises(UsageError) as caught:
        read(line)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_the_help_names_every_option_with_its_choices():
    text = TORCHPROFILE.help_text()
    for option in TORCHPROFILE.options:
        assert f"  {option.flag}" in text
        assert " | ".join(option.choices) in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%torchprofile --st", ["--steps", "--stacks"]),
        ("%torchprofile --sort-by to", ["total"]),
        ("%%torchprofile --sort-by=to", ["--sort-by=total"]),
        ("%%torchprofile --steps 3 --panel t", ["text"]),
        ("%%torchprofile --lev", []),
        ("%torchprofile o", []),
        ("%%torchdebug --st", []),
        ("%%torchprofiler --st", []),
    ],
)
def test_candidates_fit_what_is_typed(text, expected):
    assert candidates(text) == expected


def test_tab_offers_the_runs_for_a_baseline(shell):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell("%%torchdebug --name before --panel none\n1 + 1")
    assert candidates("%%torchprofile --baseline bef") == ["before"]


def test_without_a_profile_of_ipython_the_defaults_are_those_of_the_request():
    assert ProfileRequest.from_dict(configured(Config()).profile_values()) == ProfileRequest()


def test_what_is_configured_is_the_default_and_what_is_typed_outweighs_it(caplog):
    configuration = configured(Config())
    configuration.profile_steps = 7
    configuration.profile_memory = True
    configuration.panel = "text"
    configuration.level = "basic"
    request = read("--name x", **configuration.profile_values())
    assert (request.profiling.steps, request.profiling.memory, request.watch.panel) == (7, True, "text")
    assert read("--steps 2", **configuration.profile_values()).profiling.steps == 2
    with pytest.raises(TraitError, match=r"TorchMagic\.profile_steps is left as it was: steps must be"):
        configuration.profile_steps = 0
    assert configuration.profile_steps == 7


@pytest.mark.parametrize("name", [*ProfileSettings.__dataclass_fields__, "sort_by", "top"])
def test_each_setting_of_a_profile_has_a_trait_with_help(name):
    assert configured(Config()).traits(config=True)[f"profile_{name}"].help


@pytest.mark.parametrize("settings", [{"stepz": 3}, {"sort_by": "x"}, {"top": "x"}, {"level": "basic"}])
def test_wrong_settings_from_python_are_one_line(settings):
    with pytest.raises(ValueError, match=next(iter(settings))) as caught:
        ProfileRequest.from_dict(settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["%%torchprofile --help\nx = 1 /", "%torchprofile --help", "%%torchprofile --help"])
def test_help_is_printed_and_the_cell_does_not_run(shell, capsys, form):
    shell.run_line_magic("load_ext", "torchmagic")
    assert shell.run_cell(form).success
    assert "--tensorboard DIR" in capsys.readouterr().out


def test_the_magic_is_listed_and_documented(shell):
    shell.run_line_magic("load_ext", "torchmagic")
    assert "torchprofile" in shell.magics_manager.lsmagic()["cell"]
    assert "%torchprofile [options] STATEMENT" in shell.object_inspect("%%torchprofile")["docstring"]


@pytest.mark.parametrize("line", ["--stepz 3", "--steps x", "something", "--baseline 99", "--baseline nobody"])
def test_a_wrong_header_is_one_line_and_the_cell_does_not_run(shell, capsys, line):
    shell.run_line_magic("load_ext", "torchmagic")
    result = shell.run_cell(f"%%torchprofile {line}\nran = True")
    printed = capsys.readouterr()
    assert isinstance(result.error_in_exec, UsageError)
    assert printed.err.startswith("UsageError: %%torchprofile")
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert "ran" not in shell.user_ns
