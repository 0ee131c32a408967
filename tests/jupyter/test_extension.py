"""Loading leaves exactly one of everything, unloading leaves nothing."""

import signal

import pytest


def state(shell):
    """Everything in a shell that an extension may touch."""
    manager = shell.magics_manager
    return {
        "transformers": list(shell.input_transformers_cleanup),
        "events": {name: list(functions) for name, functions in shell.events.callbacks.items()},
        "magics": {kind: dict(functions) for kind, functions in manager.magics.items()},
        "registry": dict(manager.registry),
        "matchers": list(shell.Completer.custom_matchers),
        "configurables": list(shell.configurables),
        "errors": (shell.custom_exceptions, shell.CustomTB),
        "attributes": sorted(vars(shell)),
        "ast": list(shell.ast_transformers),
    }


def counts(shell):
    """How many of each there are."""
    found = state(shell)
    sizes = {name: len(value) for name, value in found.items()}
    sizes |= {name: len(functions) for name, functions in (found["events"] | found["magics"]).items()}
    return sizes


def test_loading_adds_one_of_each(shell):
    before = counts(shell)
    shell.run_line_magic("load_ext", "torchmagic")
    after = counts(shell)
    added = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert added == {
        "transformers": 1,
        "pre_run_cell": 1,
        "post_execute": 1,
        "post_run_cell": 1,
        "line": 8,  # torchdebug, torchprofile, torchbench, tensorinfo, modelinfo, torchsession and two begin calls
        "cell": 3,
        "registry": 6,
        "matchers": 1,
        "configurables": 7,
        "attributes": 1,
        "ast": 1,
    }


def test_unloading_leaves_the_shell_as_it_was(shell):
    before = state(shell)
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell("%%torchdebug --panel none\nx = 1")
    shell.run_cell("%%torchprofile --panel none\nx = 1")
    shell.run_line_magic("unload_ext", "torchmagic")
    after = state(shell)
    assert {name for name in before if before[name] != after[name]} == set()


def test_reloading_any_number_of_times_leaves_one_of_each(shell):
    shell.run_line_magic("load_ext", "torchmagic")
    once = counts(shell)
    for _ in range(3):
        shell.run_line_magic("reload_ext", "torchmagic")
    assert counts(shell) == once
    from torchmagic.jupyter.extension import load_ipython_extension  # noqa: PLC0415 - after the reloads

    load_ipython_extension(shell)
    assert counts(shell) == once


def test_a_magic_of_the_same_name_comes_back(shell):
    def tensorinfo(line):
        return line

    shell.register_magic_function(tensorinfo, "line")
    shell.run_line_magic("load_ext", "torchmagic")
    assert shell.find_line_magic("tensorinfo") is not tensorinfo
    shell.run_line_magic("unload_ext", "torchmagic")
    assert shell.find_line_magic("tensorinfo") is tensorinfo


def test_unloading_inside_a_watched_cell_closes_the_run(shell, capsys):
    import torchmagic  # noqa: PLC0415 - beside its only use

    before = state(shell)
    shell.run_line_magic("load_ext", "torchmagic")
    result = shell.run_cell("%%torchdebug --panel none\n%unload_ext torchmagic\nx = 1")
    assert result.success
    assert torchmagic.session.last.status == "ok"
    assert state(shell)["errors"] == before["errors"]


@pytest.mark.parametrize("word", ["unload_ext", "reload_ext"])
def test_a_profiled_cell_goes_on_after_the_extension_was_taken_away(shell, word):
    before = state(shell)
    shell.run_line_magic("load_ext", "torchmagic")
    result = shell.run_cell(f"%%torchprofile --panel none\n%{word} torchmagic\nx = 1\ny = x + 1\ny")
    assert result.success
    assert result.result == 2
    shell.run_line_magic("unload_ext", "torchmagic")
    assert state(shell) == before
    assert not [name for name in shell.user_ns if "torchmagic_lines" in name]


@pytest.mark.parametrize("magic", ["torchdebug", "torchprofile"])
def test_an_interrupt_while_a_run_is_closed_leaves_nothing_behind(shell, monkeypatch, capsys, magic):
    from torch import nn  # noqa: PLC0415 - beside its only use

    from torchmagic.probes.taps import Taps  # noqa: PLC0415 - the same

    call, close = nn.Module.__call__, Taps.close

    def interrupted(taps):
        signal.raise_signal(signal.SIGINT)
        close(taps)

    shell.run_line_magic("load_ext", "torchmagic")
    monkeypatch.setattr(Taps, "close", interrupted)
    result = shell.run_cell(f"%%{magic} --panel none\nfrom torch import nn\nx = nn.Module.__call__")
    assert result.success
    assert nn.Module.__call__ is call
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "Error in callback" not in "".join(capsys.readouterr())


def test_the_magic_is_listed_and_documented(shell, capsys):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_line_magic("lsmagic", "")
    assert "torchdebug" in shell.magics_manager.lsmagic()["cell"]
    assert "%torchdebug off" in shell.object_inspect("%%torchdebug")["docstring"]


@pytest.mark.parametrize("form", ["%%torchdebug --help\nx = 1 /", "%torchdebug --help", "%%torchdebug --help"])
def test_help_is_printed_and_the_cell_does_not_run(shell, capsys, form):
    shell.run_line_magic("load_ext", "torchmagic")
    assert shell.run_cell(form).success
    printed = capsys.readouterr().out
    assert "--fail-on SEVERITY" in printed
    assert "%torchdebug off" in printed.replace("on [options] | ", "")
