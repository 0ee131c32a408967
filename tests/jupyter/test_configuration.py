"""``%config TorchMagic`` and profiles give the defaults of the options."""

import pytest
from traitlets.config import Config

from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.configuration import configured


def test_without_a_profile_the_defaults_are_those_of_the_settings():
    assert Settings(**configured(Config()).values_by_field()) == Settings()


def test_a_profile_sets_defaults_and_what_is_wrong_in_it_costs_one_line(capsys):
    profile = Config()
    profile.TorchMagic.level = "advanced"
    profile.TorchMagic.every = 0
    profile.TorchMagic.only = "backward, memory"
    values = configured(profile).values_by_field()
    assert (values["level"], values["only"], values["every"]) == ("advanced", ("backward", "memory"), None)
    printed = capsys.readouterr()
    assert printed.err == (
        "torchmagic: TorchMagic.every is left as it was: every must be a whole number from 1 on, got 0\n"
    )
    assert printed.out == ""


def test_a_profile_of_the_shell_is_read_when_the_extension_is_loaded(shell, capsys):
    shell.config.TorchMagic.panel = "none"
    shell.config.TorchMagic.name = "from profile"
    shell.run_line_magic("load_ext", "torchmagic")
    assert shell.run_cell("%config TorchMagic.name").result == "from profile"


def test_config_changes_the_defaults_of_later_cells(shell, capsys):
    import torchmagic  # noqa: PLC0415 - beside its only use

    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell("%config TorchMagic.panel = 'none'")
    shell.run_cell("%config TorchMagic.save = False")
    shell.run_cell("%config TorchMagic.level = 'advanced'")
    shell.run_cell("%%torchdebug --every 7\nx = 1")
    settings = torchmagic.session.last.settings
    assert (settings["level"], settings["every"], settings["save"]) == ("advanced", 7, False)


def test_a_wrong_value_is_one_line_and_changes_nothing(shell, caplog):
    shell.run_line_magic("load_ext", "torchmagic")
    assert shell.run_cell("%config TorchMagic.level = 'basik'").success
    (record,) = caplog.records
    assert record.getMessage() == (
        "TorchMagic.level is left as it was: level: 'basik' is not one of basic, intermediate, advanced, expert; "
        "did you mean 'basic'?"
    )
    assert shell.run_cell("%config TorchMagic.level").result == "advanced"


@pytest.mark.parametrize("name", Settings.__dataclass_fields__)
def test_each_settings_field_has_a_trait_with_help(name):
    trait = configured(Config()).traits(config=True)[name]
    assert trait.help


def test_thresholds_and_silence_are_configured_for_all_cells(shell, caplog):
    import torchmagic  # noqa: PLC0415 - beside its only use

    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell("%config TorchMagic.thresholds = {'missing-zero-grad.min_streak': 5}")
    shell.run_cell("%config TorchMagic.ignore = 'dead-*'")
    shell.run_cell("%config TorchMagic.thresholds = {'missing-zero-grad.streak': 5}")
    assert "left as it was: missing-zero-grad has no threshold 'streak'" in caplog.text
    shell.run_cell("%%torchdebug --panel none --no-save\nimport torch")
    settings = torchmagic.session.last.settings
    assert settings["thresholds"] == {"missing-zero-grad.min_streak": 5}
    assert settings["ignore"] == ["dead-*"]


def test_a_page_is_printed_instead_of_running_the_cell(shell, capsys):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell("%%torchdebug --explain dead-relu\nran = True")
    assert "Most units of a rectifier" in capsys.readouterr().out
    assert "ran" not in shell.user_ns


def test_how_many_panels_stay_alive_is_configured(shell):
    from torchmagic.jupyter.showing import Showing  # noqa: PLC0415 - loaded by the first run

    before = Showing.shelf.most
    shell.run_cell("%load_ext torchmagic")
    shell.run_cell("%config TorchMagic.living_panels = 1")
    try:
        shell.run_cell("%%torchdebug --no-save --panel none\n1 + 1")
        assert Showing.shelf.most == 1
    finally:
        Showing.shelf.most = before
