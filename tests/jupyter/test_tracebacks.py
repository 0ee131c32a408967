"""The wrappers around torch, and the ranges around lines, do not show in the traceback of a watched cell."""

import re
import traceback

import pytest
import torch

from torchmagic import watch
from torchmagic.jupyter.tracebacks import remove_our_frames, told

pytestmark = pytest.mark.kernel

NOTE = "\ntorchmagic: "  # stands at the very end
SETUP = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
    def forward(self, x, fail=False):
        if fail:
            raise ValueError("inside forward")
        return self.layer(x)
net, x, y = Net(), torch.zeros(2, 4), torch.zeros(2, dtype=torch.long)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        raise KeyError("no such sample")
loader = torch.utils.data.DataLoader(Broken())
def closure():
    raise ArithmeticError("in the closure")
"""
FAILING = {
    "forward": "net(x)\nnet(x, fail=True)",
    "shape": "net(torch.zeros(2, 5))",
    "loss": "torch.nn.functional.cross_entropy(net(x), y.float())",
    "loss module": "torch.nn.CrossEntropyLoss()(net(x), y[:1])",
    "backward": "loss = net(x).sum()\nloss.backward()\nloss.backward()",
    "step": "optimizer.step(closure)",
    "loader": "for batch in loader:\n    net(batch)",
    "chain": "try:\n    net(x, fail=True)\nexcept ValueError as error:\n    raise RuntimeError('outer') from error",
    "context": "try:\n    net(x, fail=True)\nexcept ValueError:\n    net(x[0, 0])",
    "group": "try:\n    net(x, fail=True)\nexcept ValueError as error:\n    raise ExceptionGroup('many', [error])",
    "cause never raised": "raise RuntimeError('outer') from ValueError('never raised')",
    "context never raised": "error = KeyError('outer')\nerror.__context__ = ValueError('never raised')\nraise error",
    "group never raised": "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
    "group of both": "try:\n    net(x, fail=True)\nexcept ValueError as error:\n"
    "    raise ExceptionGroup('many', [TypeError(2), error]) from KeyError(3)",
    "exit": "raise SystemExit(3)",
    "user class": "class Mine(BaseException): pass\nraise Mine",
    "exec": "exec('1 +')",
}


@pytest.fixture(params=["torchdebug", "torchprofile"])
def magic(request):
    return f"%%{request.param}"


@pytest.fixture(scope="module", autouse=True)
def names(kernel):
    assert kernel.run(SETUP).status == "ok"


@pytest.mark.parametrize("body", FAILING.values(), ids=FAILING)
def test_the_traceback_is_the_same_with_and_without_the_magic(kernel, magic, body):
    plain, watched = kernel.run(f"# {magic}\n{body}"), kernel.run(f"{magic}\n{body}")
    assert plain.status == watched.status == "error"
    assert numberless(watched) == numberless(plain)
    assert "torchmagic/" not in watched.traceback
    for key in ("ename", "evalue"):
        assert watched.content[key] == plain.content[key]
    for ours, theirs in zip(watched.errors, plain.errors, strict=True):
        assert len(ours["traceback"]) - len(theirs["traceback"]) in (0, 1 if NOTE in watched.traceback else 0)
    if watched.errors:  # IPython has no error message for groups and exits
        assert watched.content["traceback"] == watched.errors[-1]["traceback"]


PRINTED = {
    "by hand": "import traceback\ntry:\n    net(torch.zeros(2, 5))\nexcept RuntimeError:\n    traceback.print_exc()",
    "in a thread": "import threading\nthread = threading.Thread(target=net, args=(torch.zeros(2, 5),))\n"
    "thread.start()\nthread.join()",
    "by %run": "open('fails.py', 'w').write('import torch; torch.nn.Linear(4, 3)(torch.zeros(2, 5))')\n%run fails.py",
}


@pytest.mark.parametrize("body", PRINTED.values(), ids=PRINTED)
def test_a_traceback_that_the_cell_itself_prints_has_no_frame_of_ours(kernel, magic, body, tmp_path):
    kernel.run(f"%cd -q {tmp_path}")
    reply = kernel.run(f"{magic} --panel none\n{body}")
    printed = reply.stream() + reply.stream("stderr") + reply.traceback
    assert "mat1 and mat2 shapes cannot be multiplied" in printed
    assert "linear.py" in printed
    assert "torchmagic/" not in printed


def test_the_post_mortem_debugger_sees_no_frame_of_ours(kernel, magic):
    kernel.run(f"{magic}\nnet(x, fail=True)")
    files = kernel.run("import sys, traceback; [f.filename for f in traceback.extract_tb(sys.last_traceback)]").value
    assert "forward" not in files
    assert "torchmagic/" not in files


def test_a_handler_of_the_users_own_is_asked_and_kept(kernel, magic):
    kernel.run(
        "def handler(shell, kind, error, tb, tb_offset=None):\n"
        "    import traceback\n"
        "    print('mine:', error, any('torchmagic/' in f.filename for f in traceback.extract_tb(tb)))\n"
        "get_ipython().set_custom_exc((ValueError,), handler)"
    )
    try:
        watched = kernel.run(f"{magic}\nnet(x, fail=True)")
        assert "mine: inside forward False" in watched.stream()
        assert watched.errors == []
        assert kernel.run("get_ipython().custom_exceptions").value == "(ValueError,)"
        assert "mine: again" in kernel.run("raise ValueError('again')").stream()
    finally:
        kernel.run("get_ipython().set_custom_exc((), None)")


def test_a_handler_set_inside_the_cell_stays(kernel):
    kernel.run("%%torchdebug\nget_ipython().set_custom_exc((KeyError,), lambda *a, **k: print('new'))")
    try:
        assert kernel.run("raise KeyError").stream() == "new\n"
    finally:
        kernel.run("get_ipython().set_custom_exc((), None)")


def test_nothing_of_ours_handles_errors_after_the_cell(kernel, magic):
    kernel.run(f"{magic}\n1 / 0")
    assert kernel.run("get_ipython().custom_exceptions").value == "()"


def test_a_line_form_shows_no_wrapper_either(kernel, magic):
    reply = kernel.run(f"{magic[1:]} net(x, fail=True)")
    assert reply.content["ename"] == "ValueError"
    assert "torchmagic/" not in reply.traceback
    assert "inside forward" in reply.traceback
    assert reply.kinds.index("static") > reply.kinds.index("error")


def test_an_error_without_frames_of_ours_is_left_as_it_is():
    with pytest.raises(ValueError, match="invalid literal") as caught:
        int("x")
    error = caught.value
    before = error.__traceback__
    error.__cause__ = error
    remove_our_frames(error)
    assert error.__traceback__ is before


def test_an_error_in_the_chain_that_was_never_raised_keeps_no_other_from_being_cleaned():
    net = torch.nn.Linear(4, 3)
    net.register_forward_hook(lambda *_: 1 / 0)
    with watch(save=False), pytest.raises(ZeroDivisionError) as caught:
        net(torch.zeros(2, 4))
    inner, outer = caught.value, RuntimeError("outer")
    outer.__cause__, outer.__context__ = ValueError("never raised"), ExceptionGroup("many", [TypeError(2), inner])
    remove_our_frames(outer)
    assert [outer.__traceback__, outer.__cause__.__traceback__] == [None, None]
    files = [frame.filename for frame in traceback.extract_tb(inner.__traceback__)]
    assert files[0] == files[-1] == __file__
    assert not any("torchmagic/" in file for file in files)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (FAILING["shape"], "torchmagic: net.layer (Linear) expects 4 features and got 5"),
        (FAILING["loss module"], "torchmagic: cross_entropy got input (2, 3) and target (1,)"),
        (FAILING["backward"], "torchmagic: loss.backward() is called twice for one forward"),
    ],
)
def test_a_note_under_the_traceback_says_what_it_is_about(kernel, magic, body, said):
    watched = kernel.run(f"{magic}\n{body}")
    assert watched.traceback.count("torchmagic: ") == 1
    assert watched.traceback.index(said) > watched.traceback.rindex("Error")


@pytest.mark.parametrize("shows_notes", [True, False])
def test_the_note_comes_once_whether_or_not_ipython_shows_notes(shows_notes):
    class Formatter:
        def structured_traceback(self, error):
            return [f"\x1b[31mError\x1b[0m: {error}", *(error.__notes__ if shows_notes else ())]

    formatter, error = Formatter(), ValueError("mine")
    error.add_note("torchmagic: why\n  try: this")
    with told(formatter, error):
        assert formatter.structured_traceback(error)[1:] == error.__notes__
    assert vars(formatter) == {}


def test_the_line_form_has_the_note_too(kernel):
    assert "torchmagic: net.layer (Linear)" in kernel.run("%torchdebug " + FAILING["shape"]).traceback


def test_an_error_that_the_cell_handles_has_no_note(kernel):
    body = "try:\n    net(torch.zeros(2, 5))\nexcept RuntimeError as e:\n    print(getattr(e, '__notes__', None))"
    assert "None" in kernel.run("%%torchdebug\n" + body).stream()


def numberless(reply):
    """The traceback, or what IPython printed in its place, without the cell's number and name, and without our note."""
    text = reply.traceback.partition(NOTE)[0] + reply.stream("stderr") + reply.stream("stdout")
    text = re.sub(r".*UserWarning: To exit.*\n.*\n", "", text)  # comes once, or again when filters have changed
    text = re.sub(r"ipykernel_\d+/\d+\.py", "cell", text)
    return text.replace(f"In[{reply.count}]", "In[n]")
