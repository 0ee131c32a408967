"""This file is ``%modelinfo`` as a user meets it, in a shell of this process."""

import gc
import weakref

import pytest
import torch
from IPython.core.completer import provisionalcompleter
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from torchmagic.jupyter.magics.modelinfo import ModelinfoMagics
from torchmagic.jupyter.modelinfo_words import OPTIMIZERS, modelinfo_candidates, parse
from torchmagic.models.training_memory import OPTIMIZERS as KNOWN


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.register_magics(ModelinfoMagics)
    shell.display_pub = CapturingDisplayPublisher()
    shell.user_ns |= {"torch": torch, "model": torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())}
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def shown(shell, line):
    result = shell.run_cell(f"%modelinfo {line}")
    assert result.success, result.error_in_exec
    assert result.result is None
    (output,) = shell.display_pub.outputs
    return output["data"]


def refused(shell, line):
    with pytest.raises(UsageError) as error:
        shell.run_line_magic("modelinfo", line)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_it_displays_text_and_html_and_leaves_out_alone(shell):
    data = shown(shell, "model")
    assert set(data) == {"text/plain", "text/html"}
    assert "model: Sequential" in data["text/plain"]
    assert "10 parameters, all trainable" in data["text/html"]
    assert "With --input-size 1,4 or" in " ".join(data["text/plain"].split())


@pytest.mark.parametrize("size", ["3,4", "3x4", "(3, 4)", "[3,4]", "3×4"])
def test_an_input_size_runs_it(shell, size):
    assert "output             3×2" in shown(shell, f"model --input-size {size}")["text/plain"]


def test_all_options_work_together(shell):
    shell.user_ns["data"] = {"x": torch.rand(5, 4)}
    text = shown(shell, 'model --batch data["x"][:3] --optimizer=sgd-momentum --depth 0;')["text/plain"]
    assert "output             3×2" in text
    assert "Memory of a training step with sgd-momentum" in text
    assert "0: Linear" not in text


def test_several_inputs(shell):
    shell.user_ns["both"] = torch.nn.Bilinear(3, 4, 2)
    assert "1×3, 1×4" in shown(shell, "both --input-size 1,3;1,4")["text/plain"]
    shell.display_pub.outputs.clear()
    assert "1×3, 1×4" in shown(shell, "both --input-size 1,3 --input-size 1,4")["text/plain"]


def test_an_optimizer_may_be_a_variable(shell):
    shell.user_ns["adamw"] = torch.optim.SGD(shell.user_ns["model"].parameters(), lr=0.1)
    assert "training step with SGD" in shown(shell, "model --optimizer adamw")["text/plain"]


def test_expressions_are_evaluated_exactly_once(shell):
    shell.run_cell("calls = []\ndef once(each):\n    calls.append(1)\n    return each")
    shown(shell, "once(model) --batch once(torch.rand(1, 4)) --optimizer once('adam')")
    assert shell.user_ns["calls"] == [1, 1, 1]


def test_an_expression_may_have_minus_signs_and_spaces(shell):
    assert parse("f(a - b, x=-1) [ -1 ] --depth 2").expression == "f(a - b, x=-1) [ -1 ]"
    assert "0: ReLU" not in shown(shell, "model[ -2 ]")["text/plain"]


def test_it_sees_the_local_names_of_a_function(shell):
    result = shell.run_cell("def f():\n    inner, x = model, torch.rand(1, 4)\n    %modelinfo inner --batch x\nf()")
    assert result.success
    assert "inner: Sequential" in shell.display_pub.outputs[0]["data"]["text/plain"]


def test_the_model_is_not_kept(shell):
    shell.run_cell("m = torch.nn.Linear(2, 2)\n%modelinfo m --input-size 1,2")
    gone = weakref.ref(shell.user_ns["m"])
    shell.run_cell("del m")
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "usage: %modelinfo EXPRESSION [--input-size"),
        ("--help", "%modelinfo? tells more"),
        ("model --help", "%modelinfo? tells more"),
        ("--depth 2", "%modelinfo: '--depth 2' came where a model was wanted; usage:"),
        ("model --input 1,3", "%modelinfo: there is no option --input; did you mean --input-size?"),
        ("model --batch", "%modelinfo: --batch needs a value; usage:"),
        ("model --depth two", "%modelinfo: --depth needs a whole number such as 2, 'two' came"),
        ("model --depth 1 --depth 2", "%modelinfo: --depth came twice"),
        ("model --input-size 1,-3", "%modelinfo: --input-size needs whole numbers such as 1,3,32,32, '1,-3' came"),
        ("model --input-size a", "%modelinfo: --input-size needs whole numbers such as 1,3,32,32, 'a' came"),
        ("modle", "%modelinfo: there is no variable named 'modle'; did you mean model?"),
        ("model --batch bacth", "%modelinfo: there is no variable named 'bacth'; run the cell that defines it first"),
        ("x y", "%modelinfo: 'x y' is not one Python expression (invalid syntax); usage:"),
        ("3", "%modelinfo 3: a model was wanted (a torch.nn.Module, or an object, list or dict that holds some), int"),
        ("model --optimizer adamm", "%modelinfo model: no optimizer 'adamm' is known; did you mean adam?"),
    ],
)
def test_what_is_wrong_is_one_line(shell, line, words):
    assert words in refused(shell, line)


@pytest.mark.parametrize("error", ["ValueError('mine')", "TypeError('mine')", "NameError('mine')"])
def test_the_users_own_errors_stay_theirs(shell, error, capsys):
    result = shell.run_cell(f"def f():\n    raise {error}\n%modelinfo f()")
    assert repr(result.error_in_exec) == error
    assert "mine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("model --in", ["--input-size"]),
        ("model --", ["--input-size", "--batch", "--optimizer", "--depth", "--help"]),
        ("model --optimizer sg", ["sgd", "sgd-momentum"]),
        ("model --optimizer=sg", ["--optimizer=sgd", "--optimizer=sgd-momentum"]),
        ("mod", []),
    ],
)
def test_candidates_fit_what_is_typed(typed, expected):
    assert modelinfo_candidates(typed) == expected


def test_what_is_completed_is_known():
    assert set(OPTIMIZERS) <= set(KNOWN)


def test_a_shell_completes_the_line_and_still_completes_names(shell):
    shell.run_line_magic("load_ext", "torchmagic")
    with provisionalcompleter():
        for line, wanted in (("%modelinfo model --dep", "--depth"), ("%modelinfo model.named_p", "named_parameters")):
            assert wanted in {each.text for each in shell.Completer.completions(line, len(line))}
    shell.run_line_magic("unload_ext", "torchmagic")


def test_its_help_is_its_docstring(shell):
    assert "--input-size 1,3,32,32" in shell.find_line_magic("modelinfo").__doc__
