"""What a person sees of watched cells in a kernel: panels, text, switching on and off, findings that fail."""

import pytest

pytestmark = pytest.mark.kernel
MODEL = "import torch\nnet = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)"
TRAIN = (
    "for _ in range(3):\n    optimizer.zero_grad()\n    net(torch.ones(4, 2)).sum().backward()\n    optimizer.step()"
)
RUNS = "import torchmagic; [(run.steps, run.status.value) for run in torchmagic.session.runs]"


@pytest.fixture(scope="module", autouse=True)
def model(kernel):
    assert kernel.run(MODEL).status == "ok"


@pytest.fixture(autouse=True)
def empty_session(kernel):
    kernel.run("import torchmagic; torchmagic.session.clear()")


@pytest.mark.parametrize(
    ("mode", "kinds"), [("live", ["panel", "static"]), ("end", ["panel", "static"]), ("text", ["stdout"]), ("none", [])]
)
def test_each_panel_mode_shows_what_it_says(kernel, mode, kinds):
    assert kernel.run(f"%%torchdebug --panel {mode}\n{TRAIN}").kinds == kinds
    assert kernel.run(RUNS).value == "[(3, 'ok')]"


def test_the_live_panel_comes_before_and_the_panel_at_the_end_after_the_cells_output(kernel):
    assert kernel.run("%%torchdebug\nprint(1)").kinds == ["panel", "stdout", "static"]
    assert kernel.run("%%torchdebug --panel end\nprint(1)").kinds == ["stdout", "panel", "static"]


def test_running_a_cell_again_closes_its_earlier_panel(kernel):
    count = "import ipywidgets; len(ipywidgets.widgets.widget._instances)"
    cell = {"metadata": {"cellId": "one"}}
    kernel.run("%%torchdebug\nx = 1", **cell)
    before = int(kernel.run(count).value)
    reply = kernel.run("%%torchdebug\nx = 1", **cell)
    assert reply.kinds == ["panel", "static"]
    kernel.run("%%torchdebug\nx = 1", metadata={"cellId": "two"})
    assert int(kernel.run(count).value) - before <= 3  # one panel with its layout; the closed one keeps its layout


def test_on_watches_cells_that_run_a_model_until_off(kernel):
    assert kernel.run(TRAIN).kinds == []
    assert kernel.run("%torchdebug on --name auto --panel text").kinds == []
    assert kernel.run("x = 1\nx").kinds == ["execute_result"]
    assert kernel.run("torch.ones(2) + 1;").kinds == []
    assert kernel.run(TRAIN).kinds == ["stdout"]
    assert kernel.run("net(torch.ones(1, 2));").kinds == ["stdout"]
    failed = kernel.run(TRAIN + "\nraise ValueError")
    assert failed.kinds == ["error", "stdout"]
    assert kernel.run("x = = 1").kinds == ["error"]
    assert kernel.run("%torchdebug off").kinds == []
    assert kernel.run(TRAIN).kinds == []
    assert kernel.run(RUNS).value == "[(3, 'ok'), (0, 'ok'), (3, 'error')]"
    names = kernel.run("{run.name for run in torchmagic.session.runs}").value
    assert names == "{'auto'}"


def test_a_header_outweighs_on(kernel):
    kernel.run("%torchdebug on --name auto --panel text")
    try:
        assert kernel.run(f"%%torchdebug --name mine --panel none\n{TRAIN}").kinds == []
        assert kernel.run("[run.name for run in torchmagic.session.runs]").value == "['mine']"
    finally:
        kernel.run("%torchdebug off")


def test_cells_without_a_model_leave_nothing_in_the_store(kernel):
    count = (
        "import sqlite3, contextlib\n"
        "with contextlib.closing(sqlite3.connect('.torchmagic/session.sqlite')) as db:\n"
        "    n = db.execute('select count(*) from run').fetchone()[0]\nn"
    )
    kernel.run(f"%%torchdebug --panel none\n{TRAIN}")
    before = int(kernel.run(count).value)
    kernel.run("%torchdebug on --panel none")
    kernel.run("x = 1")
    kernel.run(TRAIN)
    kernel.run("net(torch.ones(1, 2));")
    kernel.run("%torchdebug off")
    assert int(kernel.run(count).value) - before == 2


def test_a_wrong_on_or_off_is_one_line(kernel):
    for line, wanted in (
        ("on --lvl x", "did you mean --level?"),
        ("on now", "takes only options"),
        ("off x", "no opt"),
    ):
        reply = kernel.run(f"%torchdebug {line}")
        assert reply.status == "error"
        assert wanted in reply.stream("stderr")
        assert reply.stream("stderr").count("\n") == 1


def test_the_line_form_watches_a_statement_and_gives_its_value(kernel):
    reply = kernel.run("y = %torchdebug --panel text net(torch.ones(1, 2)).shape\nprint('then')\ny")
    assert reply.value == "torch.Size([1, 1])"
    assert reply.kinds == ["stdout", "execute_result", "stdout"]
    assert kernel.run("%torchdebug --panel none 1 + 1;").value is None
    assert kernel.run("%torchdebug 1 +").content["ename"] == "SyntaxError"
    assert "wants a statement" in kernel.run("%torchdebug --panel none").stream("stderr")


def test_a_program_may_call_the_cell_form(kernel):
    reply = kernel.run("get_ipython().run_cell_magic('torchdebug', '--panel none', 'a = 3\\n!echo hi\\na + 1')")
    assert (reply.value, reply.stream().strip()) == ("4", "hi")
    failed = kernel.run("get_ipython().run_cell_magic('torchdebug', '--panel none', 'a = 3\\n1 / 0')")
    assert failed.content["ename"] == "ZeroDivisionError"
    assert kernel.run(RUNS).value == "[(0, 'ok'), (0, 'error')]"


def test_findings_fail_the_cell_where_that_was_asked_for(kernel):
    bad = "for _ in range(6):\n    net(torch.ones(4, 2)).sum().backward()\n    optimizer.step()\n'value'"
    ok = kernel.run(f"%%torchdebug --panel text\n{bad}")
    assert (ok.status, "gradients that are never reset" in ok.stream()) == ("ok", True)
    failed = kernel.run(f"%%torchdebug --panel text --fail-on error\n{bad}")
    assert (failed.status, failed.content["ename"]) == ("error", "FindingsError")
    assert failed.kinds == ["execute_result", "stdout", "error"]
    assert failed.traceback.startswith("FindingsError: error: ")
    assert "(missing-zero-grad)" in failed.traceback
    assert "torchmagic/" not in failed.traceback
    assert kernel.run(f"%%torchdebug --panel none --fail-on error\n{TRAIN}").status == "ok"


def test_an_error_of_the_cell_is_not_replaced_by_findings(kernel):
    bad = (
        "for _ in range(6):\n    net(torch.ones(4, 2)).sum().backward()\n    optimizer.step()\nraise ValueError('mine')"
    )
    reply = kernel.run(f"%%torchdebug --panel none --fail-on error\n{bad}")
    assert (reply.content["ename"], len(reply.errors)) == ("ValueError", 1)


def test_a_report_is_written_or_its_failure_is_one_line(kernel):
    assert kernel.run(f"%%torchdebug --panel none --report out.html\n{TRAIN}").kinds == []
    assert "<html" in kernel.run("open('out.html').read(3000)").value
    reply = kernel.run(f"%%torchdebug --panel none --report nowhere/out.html\n{TRAIN}\n'value'")
    assert (reply.status, reply.value) == ("ok", "'value'")
    said = reply.stream("stderr")
    assert said.startswith("torchmagic: the report was not written: cannot write nowhere/out.html: the folder /")
    assert said.endswith("nowhere does not exist; make it first\n")


def test_a_store_that_cannot_be_used_is_one_line_once_and_nothing_is_lost(kernel):
    kernel.run("torchmagic.session.close()\n!cp -r .torchmagic kept && echo junk > .torchmagic/session.sqlite\n")
    kernel.run("import os; [os.remove(p) for p in ('.torchmagic/session.sqlite-wal',) if os.path.exists(p)];")
    try:
        reply = kernel.run(f"%%torchdebug --panel none\n{TRAIN}\n'value'")
        assert (reply.status, reply.value) == ("ok", "'value'")
        assert reply.stream("stderr").startswith("torchmagic: ")
        assert "session.sqlite cannot be used" in reply.stream("stderr")
        assert reply.stream("stderr").count("\n") == 1
        assert kernel.run(f"%%torchdebug --panel none\n{TRAIN}").stream("stderr") == ""
        assert kernel.run(RUNS).value == "[(3, 'ok'), (3, 'ok')]"
    finally:
        kernel.run("torchmagic.session.close()\n!rm -rf .torchmagic kept")


def test_stop_on_the_panel_ends_the_cell_as_an_interrupt(kernel):
    press = (
        "from ipywidgets.widgets.widget import _instances\n[p for p in _instances.values() if hasattr(p, 'pages')][-1]"
    )
    loop = TRAIN.replace("3", "10**6") + "\n    if _ == 4:\n        panel.stop_requested = True"
    reply = kernel.run(f"%%torchdebug\n{press.replace('[p for', 'panel = [p for')}\n{loop}")
    assert reply.content["ename"] == "KeyboardInterrupt"
    assert "optimizer.step()" in reply.traceback
    assert "torchmagic/" not in reply.traceback
    assert reply.kinds == ["panel", "error", "static"]
    assert kernel.run(RUNS).value == "[(6, 'interrupted')]"


@pytest.mark.parametrize(
    "cell", ["%%torchdebug\n%%torchdebug --every 2\nx = 1", "%%timeit -n2 -r3\n%%torchdebug\nx = 1"]
)
def test_a_header_met_twice_opens_one_run(kernel, cell):
    reply = kernel.run(cell)
    assert (reply.status, reply.kinds.count("static")) == ("ok", 1)
    assert kernel.run("import torchmagic; len(torchmagic.session.runs)").value == "1"
