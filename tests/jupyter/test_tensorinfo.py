"""This file is ``%tensorinfo`` as a user meets it, in a shell of this process."""

import gc
import weakref

import pytest
import torch
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from torchmagic.debuggers.tensorinfo import tensorinfo
from torchmagic.jupyter.completion import candidates
from torchmagic.jupyter.magics.tensorinfo import TensorinfoMagics


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.register_magics(TensorinfoMagics)
    shell.display_pub = CapturingDisplayPublisher()
    shell.user_ns["torch"] = torch
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def refused(shell, line):
    with pytest.raises(UsageError) as error:
        shell.run_line_magic("tensorinfo", line)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_it_displays_text_and_html_and_leaves_out_alone(shell):
    result = shell.run_cell("x = torch.tensor([1.0, float('nan')])\n%tensorinfo x")
    assert result.success
    assert result.result is None
    (shown,) = shell.display_pub.outputs
    assert set(shown["data"]) == {"text/plain", "text/html"}
    assert "x: Tensor" in shown["data"]["text/plain"]
    assert "Not finite: 1 NaN of 2 values (50%), the first at [1]." in shown["data"]["text/plain"]
    assert "Not finite: 1 NaN" in shown["data"]["text/html"]


def test_the_expression_is_evaluated_exactly_once(shell):
    shell.run_cell("calls = []\ndef f():\n    calls.append(1)\n    return torch.ones(3)\n%tensorinfo f()[1:];")
    assert shell.user_ns["calls"] == [1]
    assert "f()[1:]: Tensor" in shell.display_pub.outputs[0]["data"]["text/plain"]


def test_it_sees_the_local_names_of_a_function(shell):
    result = shell.run_cell("def f():\n    inner = torch.ones(3)\n    %tensorinfo inner\nf()")
    assert result.success
    assert "inner: Tensor" in shell.display_pub.outputs[0]["data"]["text/plain"]


def test_the_tensor_is_not_kept(shell):
    shell.run_cell("x = torch.ones(3)\n%tensorinfo x")
    gone = weakref.ref(shell.user_ns["x"])
    shell.run_cell("del x")
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("line", ["", "  ", "--help"])
def test_without_an_expression_it_tells_its_usage(shell, line):
    assert refused(shell, line).startswith("usage: %tensorinfo EXPRESSION")


def test_an_unknown_name_gets_the_nearest_ones(shell):
    shell.user_ns["weights"] = torch.ones(2)
    assert refused(shell, "weihgts.T") == ("%tensorinfo: there is no variable named 'weihgts'; did you mean weights?")
    assert refused(shell, "[zzzqqq for _ in 'a']") == (
        "%tensorinfo: there is no variable named 'zzzqqq'; run the cell that defines it first"
    )


def test_something_else_than_a_tensor_is_named(shell):
    shell.user_ns["model"] = torch.nn.Linear(1, 1)
    assert refused(shell, "model") == (
        "%tensorinfo model: a tensor, a parameter or a NumPy array was wanted, "
        "torch.nn.modules.linear.Linear came; name one of its parameters, such as weight, "
        "or ask %modelinfo"
    )


def test_what_is_no_expression_is_refused(shell):
    assert refused(shell, "x y").startswith("%tensorinfo: 'x y' is not one Python expression (invalid syntax); usage:")


@pytest.mark.parametrize("error", ["ValueError('mine')", "TypeError('mine')", "NameError('mine')"])
def test_the_users_own_errors_stay_theirs(shell, error, capsys):
    result = shell.run_cell(f"def f():\n    raise {error}\n%tensorinfo f()")
    assert repr(result.error_in_exec) == error
    assert "mine" in capsys.readouterr().out


def test_a_name_unknown_inside_a_called_function_is_the_users_error(shell, capsys):
    result = shell.run_cell("def f():\n    return nowhere\n%tensorinfo f()")
    assert type(result.error_in_exec) is NameError


def test_its_help_is_its_docstring(shell):
    assert "%tensorinfo EXPRESSION" in shell.find_line_magic("tensorinfo").__doc__


def test_info_prints_as_text_in_scripts():
    info = tensorinfo(torch.arange(3), name="x")
    assert str(info) == repr(info)
    assert "int64 [3] on cpu, 3 elements, 0 to 2, mean 1 ± 1" in str(info)
    assert set(info._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}


def shown(shell, line):
    shell.display_pub.outputs.clear()
    shell.run_line_magic("tensorinfo", line)
    return shell.display_pub.outputs[0]["data"]["text/plain"]


def test_two_tensors_are_compared_each_expression_evaluated_once(shell):
    shell.run_cell("calls = []\ndef f(x):\n    calls.append(x)\n    return torch.ones(2) * x")
    text = shown(shell, "f(1) --compare f(1.5)")
    assert "Not close to f(1.5): 2 of 2 (100%) outside rtol 1.3e-06, atol 1e-05." in text
    assert shell.user_ns["calls"] == [1, 1.5]


def test_names_of_dimensions_and_shared_memory_are_told(shell):
    shell.run_cell("x = torch.ones(2, 3)\nview = x[0]")
    text = shown(shell, "view --dims C")
    assert "[C 3], 3 elements" in text
    assert "a view of           x" in text


def test_full_tells_who_holds_it_and_takes_no_sample(shell):
    shell.run_cell("x = torch.randn(70_000)\nkept = [x]")
    assert "Note: quantiles are from a sample of 16,384 values" in shown(shell, "x")
    text = shown(shell, "x --full")
    assert "sample" not in text
    assert "a list of 1" in text


def test_hist_counts_all_values(shell):
    shell.run_cell("x = torch.randn(200_000)")
    assert "Histogram of a sample of 16,384 values" in shown(shell, "x")
    assert "Histogram of all finite values" in shown(shell, "x --hist")


def test_image_is_taken_at_its_word(shell):
    shell.run_cell("x = torch.ones(3, 4, 5)")
    assert "As images" not in shown(shell, "x")
    assert "As images" in shown(shell, "x --image")


def test_objects_that_hold_tensors_show_a_tree(shell):
    shell.run_cell("batch = {'image': torch.ones(2, 3), 'label': torch.zeros(2, dtype=torch.long)}")
    text = shown(shell, "batch")
    assert "2 tensors, 8 elements, float32 24 B, int64 16 B" in text
    assert "['label']" in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x --ful", "%tensorinfo: there is no option --ful; did you mean --full?"),
        ("x --dims", "%tensorinfo: --dims needs a value; usage:"),
        ("x --full 3", "%tensorinfo: --full takes no value, '3' came; put the expression first"),
        ("x --full --full", "%tensorinfo: --full came twice"),
        ("--full x", "%tensorinfo: '--full x' came where a tensor was wanted; usage:"),
        ("x --dims A B", "%tensorinfo x: 2 names of dimensions came, 1 were wanted for [2]"),
        ("x --compare x[:1]", "%tensorinfo x: x[:1] has shape [1], [2] was wanted; compare equal shapes"),
        (
            "[x] --compare x",
            "%tensorinfo [x]: --compare and --dims want one tensor, list came; name one of its tensors",
        ),
        ("[1]", "%tensorinfo [1]: a tensor, a parameter or a NumPy array was wanted, list came; "),
    ],
)
def test_a_wrong_line_is_one_clear_line(shell, line, said):
    shell.user_ns["x"] = torch.ones(2)
    assert refused(shell, line).startswith(said)


def test_a_minus_in_the_expression_is_a_minus(shell):
    shell.run_cell("x, y = torch.ones(2), torch.ones(2)")
    assert "all 0" in shown(shell, "x -y")
    assert "all 2" in shown(shell, "x - -y")


def test_options_complete():
    assert candidates("%tensorinfo x --h") == ["--hist", "--help"]
    assert candidates("%tensorinfo x --c") == ["--compare"]
    assert candidates("%tensorinfo x") == []
