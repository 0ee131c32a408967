"""``%torchsession`` as a user meets it: in a notebook's kernel, in a terminal, and after a kernel was killed."""

import re
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from jupyter_client.manager import KernelManager

pytestmark = pytest.mark.kernel
TIMEOUT = 240

TRAINING = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
x, y = torch.randn(64, 4), torch.randn(64, 1)
optimizer = torch.optim.SGD(model.parameters(), lr={lr})
for step in range({steps}):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""


def cell(name, *, lr=0.1, steps=12, more=""):
    return f"%%torchdebug --panel none --name {name}\n{TRAINING.format(lr=lr, steps=steps)}{more}"


@contextmanager
def started(kernel_class, env, folder):
    """A kernel of its own in a folder."""
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(env=env, cwd=str(folder))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT)
        yield kernel_class(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@pytest.fixture(scope="module")
def trained(kernel):
    """A kernel in which two runs have been watched."""
    for name, lr in (("slow", 0.001), ("fast", 0.1)):
        assert kernel.run(cell(name, lr=lr)).status == "ok"
    return kernel


def shown(reply):
    """The text and html that a cell shows beside its widget."""
    displayed = [content["data"] for kind, content in reply.outputs if kind == "display_data"]
    (data,) = [data for data in displayed if data.get("text/html")]
    assert sum("application/vnd.jupyter.widget-view+json" in data for data in displayed) == 1
    return data["text/plain"], data["text/html"]


def refused(kernel, line):
    reply = kernel.run(f"%torchsession {line}")
    said = reply.stream("stderr").strip()
    assert said.startswith("UsageError: %torchsession")
    assert "\n" not in said
    return said


@pytest.mark.parametrize("line", ["", "history", "--all"])
def test_the_history_is_a_table_of_the_runs(trained, line):
    text, html = shown(trained.run(f"%torchsession {line}"))
    assert text.index("fast") < text.index("slow")
    assert html.index("fast") < html.index("slow")


def test_two_runs_are_compared(trained):
    text, html = shown(trained.run("%torchsession compare 1 2"))
    assert "-optimizer = torch.optim.SGD(model.parameters(), lr=0.001)" in text.replace("- ", "-")
    assert "lr=0.1" in html


def test_a_metric_is_plotted_over_runs_and_over_parameters(trained):
    text, html = shown(trained.run("%torchsession plot loss --runs slow fast"))
    assert "slow" in text
    assert "fast" in text
    assert "data:image/png;base64," in html
    text, _ = shown(trained.run("%torchsession plot grad_norm --parameter *.bias"))
    assert "0.bias" in text
    assert "0.weight" not in text


def test_show_brings_the_panel_and_its_static_copy_again(trained):
    reply = trained.run("%torchsession show 1")
    assert reply.kinds == ["panel", "static"]
    again = trained.run("%torchsession show slow")
    ids = [re.findall('data-torchmagic-static="(.*?)"', str(each.outputs)) for each in (reply, again)]
    assert ids[0] != ids[1]
    assert trained.run("%torchsession last").kinds == ["panel", "static"]


def test_notes_and_tags_are_confirmed_and_shown(trained):
    assert trained.run("%torchsession note 1 it's too low").stream() == "run 1 'slow': noted\n"
    assert trained.run("%torchsession tag 1 bad slow").stream() == "run 1 'slow': tagged bad, slow\n"
    _, html = shown(trained.run("%torchsession"))
    assert "#bad #slow it&#39;s too low" in html
    assert trained.run("%torchsession tag 1 -bad -slow").stream() == "run 1 'slow': no tags\n"
    assert trained.run("%torchsession note 1").stream() == "run 1 'slow': the note is removed\n"
    assert "too low" not in shown(trained.run("%torchsession"))[1]


@pytest.mark.parametrize(("name", "words"), [("runs.html", "<html"), ("runs.json", "slow"), ("runs.csv", "loss")])
def test_runs_are_exported_by_suffix(trained, name, words, tmp_path):
    path = tmp_path / name
    assert trained.run(f"%torchsession export {path} --runs 1 2").stream() == f"written to {path}\n"
    assert words in path.read_text()


def test_probes_and_level_are_switched_for_the_runs_to_come(trained):
    try:
        assert trained.run("%torchsession disable activations weights").stream() == "off: weights, activations\n"
        assert trained.run("%torchsession level basic").stream() == "all runs are watched at level basic\n"
        assert "switched off" in shown(trained.run("%torchsession status"))[0]
        assert trained.run(cell("switched")).status == "ok"
        settings = trained.run("import torchmagic; print(torchmagic.session.last.settings['level'])").stream()
        assert settings == "basic\n"
    finally:
        assert trained.run("%torchsession level own").stream() == "each run is watched at its own level\n"
        assert trained.run("%torchsession enable").stream() == "all probes are on\n"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("histroy", "did you mean history?"),
        ("show 99", "99"),
        ("plot los", "loss"),
        ("compare 1", "two different runs"),
        ("disable gradeints", "did you mean 'gradients'?"),
        ("level basik", "did you mean 'basic'?"),
        ("export /no/such/folder/a.html", "/no/such/folder"),
        ("export a.htlm", "'.htm'"),
    ],
)
def test_a_wrong_word_is_one_line_that_names_the_nearest_right_one(trained, line, hint):
    assert hint in refused(trained, line)


def test_help_and_question_mark_tell_all_words(trained):
    told = trained.run("%torchsession --help").stream()
    for word in ("history", "compare", "plot", "export", "disable", "clear"):
        assert f"%torchsession {word}" in told
    asked = trained.client.inspect("%torchsession", 13, reply=True, timeout=TIMEOUT)["content"]
    assert "The home" not in asked["data"]["text/plain"]
    assert "%torchsession compare [A B ...]" in asked["data"]["text/plain"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%torchsession his", "history"),
        ("%torchsession show sl", "slow"),
        ("%torchsession compare 1 la", "last"),
        ("%torchsession plot grad_n", "grad_norm"),
        ("%torchsession plot grad_norm --parameter model.2.w", "model.2.weight"),
        ("%torchsession plot loss --ru", "--runs"),
        ("%torchsession plot loss --runs slow fa", "fast"),
        ("%torchsession disable act", "activations"),
        ("%torchsession level ba", "basic"),
        ("%torchsession export x --to tensorb", "tensorboard"),
        ("%torchsession clear --", "--stored"),
    ],
)
def test_tab_completes_words_runs_metrics_probes_and_forms(trained, text, expected):
    found = trained.client.complete(text, len(text), reply=True, timeout=TIMEOUT)["content"]
    whole = {text[: found["cursor_start"]] + match for match in found["matches"]}
    assert text[: text.rindex(" ") + 1] + expected in whole


def test_a_killed_kernel_is_told_of_once_and_its_run_is_shown(kernel, kernel_env, tmp_path):
    # SIGKILL in the middle of the training, two seconds in: nobody tidies up.
    dying = TRAINING.format(lr=0.1, steps=10_000) + "    time.sleep(0.05)\n    if step == 40: os.kill(os.getpid(), 9)\n"
    with started(type(kernel), kernel_env, tmp_path) as first:
        assert first.run("%load_ext torchmagic\nimport os, time").stream("stderr") == ""
        first.client.execute(f"%%torchdebug --panel none --name doomed\n{dying}")
        deadline = time.monotonic() + TIMEOUT
        while first.manager.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not first.manager.is_alive()
    with started(type(kernel), kernel_env, tmp_path) as second:
        told = second.run("%load_ext torchmagic").stream("stderr")
        assert re.fullmatch(
            r"torchmagic: run 1 \(doomed\) was cut off at step \d+ when its kernel died; "
            r"%torchsession show 1 shows it up to then\n",
            told,
        )
        assert int(re.search(r"step (\d+)", told)[1]) >= 15
        assert second.run("import sys; print('torch' in sys.modules)").stream() == "False\n"
        reply = second.run("%torchsession last")
        assert reply.kinds == ["panel", "static"]
        copies = [content["data"] for kind, content in reply.outputs if kind == "display_data"]
        text = next(data["text/plain"] for data in copies if "data-torchmagic-static" in data.get("text/html", ""))
        assert "doomed · lost" in text
        assert "lost" in shown(second.run("%torchsession"))[0]
        assert second.run("%reload_ext torchmagic").stream("stderr") == ""
    with started(type(kernel), kernel_env, tmp_path) as third:
        assert third.run("%load_ext torchmagic").stream("stderr") == ""


def test_a_terminal_gets_text(kernel_env, tmp_path):
    command = [sys.executable, "-m", "IPython", "--quick", "--colors=NoColor", "--ext=torchmagic"]
    ran = subprocess.run(
        [*command, "-c", cell("first")],
        env=kernel_env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert ran.stdout.strip() == ""
    for line in ("%torchsession", "%torchsession last", "%torchsession show 1"):
        done = subprocess.run(
            [*command, "-c", line],
            env=kernel_env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        assert "first" in done.stdout
        assert "<html" not in done.stdout


def test_clear_says_what_was_removed(kernel, kernel_env, tmp_path):
    with started(type(kernel), kernel_env, tmp_path) as fresh:
        fresh.run("%load_ext torchmagic")
        assert "no run yet" in refused(fresh, "last")
        fresh.run(cell("one"))
        forgotten = fresh.run("%torchsession clear").stream()
        assert forgotten == "1 run forgotten; 1 in the store stays: clear --stored removes it for good\n"
        removed = fresh.run("%torchsession clear --stored").stream()
        assert removed == "1 run removed from this kernel and from the store\n"
        fresh.run("import torchmagic\ntorchmagic.session.close()\n!rm -r .torchmagic && touch .torchmagic")
        fresh.run(cell("two"))
        removed = fresh.run("%torchsession clear --stored").stream()
        assert removed == "1 run removed from this kernel\n"
