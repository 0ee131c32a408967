"""This file is a tensor's card in place of torch's print: switched on and off, nothing left behind."""

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from torchmagic.api.rich_repr import card, is_on, switch
from torchmagic.api.session import session
from torchmagic.jupyter.extension import load_ipython_extension, unload_ipython_extension


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def shown(shell, value):
    return shell.display_formatter.format(value)[0]


def test_a_bare_tensor_shows_its_card_and_off_restores(shell):
    before = torch.Tensor.__repr__
    plain = shown(shell, torch.ones(2))
    assert "text/html" not in plain
    switch("on", shell)
    for value in (torch.ones(2), torch.nn.Parameter(torch.ones(2))):
        assert "float32 [2] on cpu" in shown(shell, value)["text/plain"]
        assert "torchmagic-page" in shown(shell, value)["text/html"]
    assert torch.Tensor.__repr__ is before
    switch("off", shell)
    assert shown(shell, torch.ones(2)) == plain


def test_a_tensor_in_a_list_is_printed_as_ever(shell):
    switch("on", shell)
    assert shown(shell, [torch.ones(1)])["text/plain"] == "[tensor([1.])]"


def test_on_twice_and_off_twice_leave_nothing(shell):
    for state in ("on", "on", "off", "off"):
        switch(state, shell)
    formatter = shell.display_formatter.mimebundle_formatter
    assert not formatter.type_printers
    assert not formatter.deferred_printers
    assert not is_on(shell)


def test_somebody_elses_card_comes_back(shell):
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type(torch.Tensor, lambda *_, **__: {"text/plain": "theirs"})
    switch("on", shell)
    switch("off", shell)
    assert shown(shell, torch.ones(1))["text/plain"] == "theirs"


def test_the_session_and_the_magic_switch_it(shell, capsys):
    load_ipython_extension(shell)
    shell.run_line_magic("torchsession", "repr on")
    assert is_on(shell)
    assert "tensors are shown as cards" in capsys.readouterr().out
    session.repr("off")
    assert not is_on(shell)
    session.repr("on")
    unload_ipython_extension(shell)
    assert not is_on(shell)


def test_a_wrong_state_is_one_clear_line(shell):
    with pytest.raises(ValueError, match=r"^repr is 'on' or 'off', 'yes' came$"):
        switch("yes", shell)


def test_outside_of_a_shell_it_says_so():
    InteractiveShell.clear_instance()
    with pytest.raises(RuntimeError, match="need a notebook or an IPython shell"):
        switch("on")


def test_the_card_can_be_asked_for_text_alone():
    assert set(card(torch.ones(1), include={"text/plain"})) == {"text/plain"}
