"""What a plain cell does, a watched one and a profiled one do as well: each in a real kernel."""

import re

import pytest

pytestmark = pytest.mark.kernel
MAGICS = ("torchdebug", "torchprofile")

RESULT = ["panel", "static"]  # shown by every watched cell that is allowed to


@pytest.fixture(params=MAGICS)
def magic(request):
    return f"%%{request.param}"


def after_error(reply):
    """Assert that the cell failed and that its result came after the traceback."""
    assert reply.status == "error"
    kinds = reply.kinds
    assert kinds.count("static") == 1
    assert kinds.index("static") > kinds.index("error")


def test_the_last_expression_is_shown_and_kept(kernel, magic):
    reply = kernel.run(f"{magic}\nx = 20\nx + 1")
    assert (reply.status, reply.value) == ("ok", "21")
    assert kernel.run(f"Out[{reply.count}]").value == "21"
    assert reply.kinds == ["panel", "execute_result", "static"]


def test_an_error_ends_the_reply_with_error(kernel, magic):
    reply = kernel.run(f"{magic}\nraise ValueError('mine')")
    assert (reply.content["ename"], reply.content["evalue"]) == ("ValueError", "mine")
    assert len(reply.errors) == 1
    after_error(reply)


def test_the_traceback_is_that_of_the_cell_without_the_header(kernel, magic):
    body = "\ndef f(x):\n    return 1 / x\n\nf(1)\nf(0)\n"
    plain = kernel.run(f"# {magic} --name two" + body)
    watched = kernel.run(f"{magic} --name two" + body)
    assert watched.traceback.replace(f"In[{watched.count}]", "In[n]") == plain.traceback.replace(
        f"In[{plain.count}]", "In[n]"
    )
    assert "----> 6 f(0)" in watched.traceback
    after_error(watched)


def test_the_header_is_quoted_as_it_was_typed(kernel, magic):
    reply = kernel.run(f"{magic} --name two\n1 / 0")
    assert f"      1 # {magic} --name two\n----> 2 1 / 0" in reply.traceback


@pytest.mark.parametrize("body", ["\n\n", "  \n", "# nothing\n\n"])
def test_a_cell_of_nothing_does_nothing(kernel, magic, body):
    reply = kernel.run(f"{magic}\n{body}")
    assert (reply.status, reply.kinds) == ("ok", ["panel", "static"])


@pytest.mark.parametrize("body", ["    x = 20\n    x + 1", "\n\n\tx = 20\n\tx + 1", "  %%capture out\n  x = 20"])
def test_a_cell_that_is_indented_as_a_whole_runs(kernel, magic, body):
    reply = kernel.run(f"{magic}\n{body}")
    assert reply.status == "ok"
    assert kernel.run("x + 1").value == "21"


def test_await_works_at_the_top_level(kernel, magic):
    reply = kernel.run(f"{magic}\nimport asyncio\nawait asyncio.sleep(0)\n[i async for i in agen()]")
    assert reply.content["ename"] == "NameError"
    after_error(reply)
    reply = kernel.run(f"{magic}\nimport asyncio\nawait asyncio.sleep(0, 'slept')")
    assert (reply.status, reply.value) == ("ok", "'slept'")
    assert "static" in reply.kinds


def test_shell_commands_and_line_magics_work_inside(kernel, magic):
    reply = kernel.run(f"{magic}\n!echo one\nout = !echo two\n%env TORCHMAGIC_TEST=3\nout[0]")
    assert "one" in reply.stream()
    assert reply.value == "'two'"
    assert "env: TORCHMAGIC_TEST=3" in reply.stream()


@pytest.mark.parametrize("time_is_above", [True, False])
def test_time_may_stand_above_or_below(kernel, magic, time_is_above):
    header = f"%%time\n{magic}" if time_is_above else f"{magic}\n%%time"
    reply = kernel.run(f"{header}\nfor i in range(3): pass\n'value'")
    assert reply.value == "'value'"
    assert reply.stream().count("Wall time") == 1
    assert reply.kinds.count("static") == 1


def test_capture_below_captures_the_cell_and_not_the_result(kernel, magic):
    reply = kernel.run(f"{magic}\n%%capture captured\nprint('inside')")
    assert reply.kinds == RESULT
    assert kernel.run("captured.stdout").value == r"'inside\n'"


def test_capture_above_captures_the_result_as_well(kernel, magic):
    reply = kernel.run(f"%%capture captured\n{magic}\nprint('inside')")
    assert (reply.status, reply.kinds) == ("ok", [])
    assert kernel.run("captured.stdout").value == r"'inside\n'"
    assert kernel.run("len(captured.outputs)").value == "2"


def interrupt_when_ready(kernel):
    """Press the kernel's stop button when the cell says that it is ready."""

    def interrupt(kind, content):
        if kind == "stream" and "ready" in content["text"]:
            kernel.manager.interrupt_kernel()

    return interrupt


def test_an_interrupt_is_a_keyboard_interrupt(kernel, magic):
    reply = kernel.run(
        f"{magic}\nimport threading\nprint('ready', flush=True); threading.Event().wait(60)",
        on_output=interrupt_when_ready(kernel),
    )
    assert reply.content["ename"] == "KeyboardInterrupt"
    assert "----> 3 print('ready', flush=True); threading.Event().wait(60)" in reply.traceback
    after_error(reply)
    assert kernel.run("import torchmagic; torchmagic.session.last.status.value").value == "'interrupted'"


def test_an_interrupted_await_ends_the_run_as_well(kernel, magic):
    body = (
        "\nimport asyncio\nasync def spin():\n    print('ready', flush=True)\n"
        "    while True:\n        await asyncio.sleep(0)\nawait spin()"
    )
    plain = kernel.run("#" + body, on_output=interrupt_when_ready(kernel))
    watched = kernel.run(magic + body, on_output=interrupt_when_ready(kernel))
    assert {plain.content["ename"], watched.content["ename"]} <= {"CancelledError", "KeyboardInterrupt"}
    after_error(watched)
    assert kernel.run("torchmagic.session.last.status.value").value == "'interrupted'"


def test_future_imports_may_come_first(kernel, magic):
    reply = kernel.run(f"{magic}\nfrom __future__ import annotations\ndef f(x: Unknown): ...\nf.__annotations__")
    assert (reply.status, reply.value) == ("ok", "{'x': 'Unknown'}")


def test_names_persist(kernel, magic):
    kernel.run(f"{magic}\nkept = 7\ndef function():\n    return kept")
    assert kernel.run(f"{magic}\nfunction() + kept").value == "14"


def test_multi_line_strings_are_untouched(kernel, magic):
    text = f"a\n    {magic}\n  !ls\n%time\n\tb {{x}} $x\n"
    assert eval(kernel.run(f"{magic}\n'''{text}'''").value) == text  # noqa: S307 - a literal of this test


def test_a_syntax_error_is_one_clean_error_and_no_run(kernel, magic):
    before = kernel.run("import torchmagic; len(torchmagic.session.runs)").value
    plain = kernel.run(f"# {magic}\nx = = 1")
    reply = kernel.run(f"{magic}\nx = = 1")
    assert (reply.status, reply.content["ename"], reply.kinds) == ("error", "SyntaxError", ["error"])
    assert reply.traceback.replace(f"In[{reply.count}]", "") == plain.traceback.replace(f"In[{plain.count}]", "")
    assert kernel.run("len(torchmagic.session.runs)").value == before


def test_the_history_keeps_what_was_typed(kernel, magic):
    cell = f"{magic} --name two\npasted = 'paste'"
    count = kernel.run(cell).count
    assert eval(kernel.run(f"get_ipython().history_manager.input_hist_raw[{count}]").value) == cell  # noqa: S307


def test_a_trailing_semicolon_silences(kernel, magic):
    reply = kernel.run(f"{magic}\n1 + 1;")
    assert (reply.status, reply.value) == ("ok", None)


def test_a_nested_cell_does_not_close_the_run(kernel, magic):
    reply = kernel.run(
        f"{magic} --name outer\nr = get_ipython().run_cell('y = 1')\n"
        "r = get_ipython().run_cell('')\nimport torchmagic\ntorchmagic.session.last.status.value"
    )
    assert reply.value == "'running'"
    assert kernel.run("torchmagic.session.last.status.value").value == "'ok'"


def test_a_syntax_error_in_a_nested_cell_is_shown_as_ever(kernel, magic):
    body = "\nr = get_ipython().run_cell('x = = 1')"
    plain, watched = kernel.run("#" + body), kernel.run(magic + body)
    assert watched.status == plain.status == "ok"
    # the nested cell has the number of the outer one up to IPython 8, the next one from 9 on
    assert re.sub(r"In\[\d+\]", "", watched.traceback) == re.sub(r"In\[\d+\]", "", plain.traceback)
    assert "invalid syntax" in watched.traceback


def test_a_silent_run_is_closed_too(kernel, magic):
    kernel.run(f"open('quiet.ipy', 'w').write('{magic} --name quiet --panel none\\ny = 1');")
    request = kernel.client.execute("%run quiet.ipy", silent=True, reply=True, timeout=300)
    assert request["content"]["status"] == "ok"
    assert kernel.run("torchmagic.session.last.name, torchmagic.session.last.status.value").value == "('quiet', 'ok')"
