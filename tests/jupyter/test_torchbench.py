"""``%%torchbench``: a trial that shows what is worth it, changes nothing, and says what is wrong in one line."""

import re
from html.parser import HTMLParser

import pytest
import torch
from IPython.core.error import UsageError

from torchmagic.jupyter.cell_magics import TORCHBENCH
from torchmagic.jupyter.completion import candidates
from torchmagic.jupyter.parsing import parse
from torchmagic.tuning.bench_request import USUAL, BenchRequest

SETUP = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
loader = [(torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16,))) for _ in range(4)]
"""
LOOP = """for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    print("a step")
"""


@pytest.fixture
def bench(shell, capsys):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell(SETUP)
    capsys.readouterr()

    def run(code):
        result = shell.run_cell(code)
        said = capsys.readouterr()
        return result, said.out, said.err

    run.names = shell.user_ns
    return run


def read(line, **defaults):
    return parse(TORCHBENCH, line, defaults)[0]


def test_a_cell_is_measured_and_leaves_no_trace(bench):
    names = {name: value for name, value in bench.names.items() if not name.startswith("_")}
    weights = {name: each.clone() for name, each in bench.names["model"].state_dict().items()}
    stream = torch.get_rng_state()
    result, out, err = bench(f"%%torchbench --modes channels_last,fused_optimizer,inference --steps 24\n{LOOP}")
    assert (result.success, result.result, err) == (True, None, "")
    assert "A step is one pass of the loop at line 2" in out
    assert "a step\n" not in out
    for mode in ("plain loop", "channels_last", "fused_optimizer"):
        assert re.search(rf"^  {mode} +[\d.]+ [mµ]?s +[\d.]+", out, flags=re.MULTILINE), mode
    assert re.search(r"^! inference +not measured", out, flags=re.MULTILINE)
    assert "inference  it trains nothing" in out
    assert out.count("same") >= 2
    assert "nothing of yours was trained or changed" in out
    assert {name: value for name, value in bench.names.items() if not name.startswith("_")} == names
    assert all(torch.equal(weights[name], each) for name, each in bench.names["model"].state_dict().items())
    assert not bench.names["optimizer"].state
    assert torch.equal(stream, torch.get_rng_state())


def test_a_line_is_measured_by_what_it_calls(bench):
    bench("def train():\n" + "".join(f"    {line}\n" for line in LOOP.splitlines()))
    result, out, _ = bench("%torchbench --modes none --steps 24 train()")
    assert result.success
    assert "A step is one pass of the loop in train()" in out
    assert "Nothing is recommended" in out


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("%%torchbench\nx = 1", "%%torchbench: no optimizer stepped in the cell; write a training step, such as: for "),
        ("%%torchbench --mode amp\nx = 1", "%%torchbench: there is no option '--mode'; did you mean --modes?"),
        ("%%torchbench --modes amx\nx = 1", "%%torchbench: --modes wants some of none, amp, "),
        ("%%torchbench --steps few\nx = 1", "%%torchbench: --steps wants a whole number, got 'few'"),
        ("%%torchbench --steps 0\nx = 1", "%%torchbench: steps=0 came; wanted a whole number from 1 on"),
        ("%%torchbench --time-limit 1h\nx = 1", "%%torchbench: --time-limit wants a number of seconds, got '1h'"),
        (
            "%%torchbench model\nx = 1",
            "%%torchbench takes only options on its line, got 'model'; did you mean --modes?",
        ),
        ("%torchbench", "%torchbench wants a statement that trains, or --help"),
    ],
)
def test_what_is_wrong_is_one_line(bench, code, told):
    result, _, err = bench(code)
    assert isinstance(result.error_in_exec, UsageError)
    assert err.startswith(f"UsageError: {told}")
    assert err.count("\n") == 1


def test_the_cells_own_error_has_the_line_of_the_cell_and_no_frame_of_ours(bench):
    result, out, _ = bench("%%torchbench\nfor x, y in loader:\n    model(x).nothing()\n")
    assert isinstance(result.error_in_exec, AttributeError)
    assert re.search(r"-> .*3.*model\(x\)\.nothing\(\)", re.sub(r"\x1b\[[0-9;]*m", "", out))
    assert "torchmagic/tuning" not in out
    assert "torchbench.py" not in out


def test_an_interrupt_shows_what_was_measured_up_to_there(bench):
    bench("count = 0")
    counting = LOOP.replace('    print("a step")\n', "    count += 1\n    if count > 20: raise KeyboardInterrupt\n")
    before = dict(bench.names)
    result, out, _ = bench(f"%%torchbench --modes none,amp --steps 24\n{counting}")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "It was stopped before all modes had their turn." in out
    assert all(bench.names[name] is before[name] for name in ("model", "optimizer", "count"))


def test_a_message_of_the_notebooks_is_heard_while_the_cell_is_quiet(bench):
    told = "    get_ipython().display_pub.set_parent({})  # as the kernel does for every message\n"
    result, out, _ = bench(f"%%torchbench --modes none --steps 24\n{LOOP}{told}    display('seen')\n")
    assert result.success
    assert re.search(r"^ *plain loop +[\d.]+ [mµ]?s", out, flags=re.MULTILINE)
    assert "seen" not in out
    assert not hasattr(bench.names["get_ipython"]().display_pub, "set_parent")


def test_options_are_read_completed_and_told(bench):
    assert read("") == BenchRequest() == BenchRequest(modes=USUAL, steps=100, time_limit=120.0)
    asked = read("--modes compilation,amp --steps=50 --time-limit 30s")
    assert asked == BenchRequest(modes=("compilation", "amp"), steps=50, time_limit=30.0)
    assert candidates("%%torchbench --") == ["--modes", "--steps", "--time-limit", "--help"]
    assert candidates("%%torchbench --modes amp,c") == ["amp,compilation", "amp,channels_last"]
    _, told, _ = bench("%%torchbench --help")
    assert told == TORCHBENCH.help_text() + "\n"
    assert "--explain" not in told
    _, told, _ = bench("%torchbench --help")
    assert "--time-limit SECONDS" in told


def test_defaults_are_configured(bench, caplog):
    bench('%config TorchMagic.bench_modes = "none"')
    bench("%config TorchMagic.bench_steps = 24")
    _, out, _ = bench(f"%%torchbench\n{LOOP}")
    assert re.search(r"^  none ", out, flags=re.MULTILINE)
    assert "amp" not in out
    bench('%config TorchMagic.bench_modes = "fast"')
    assert "TorchMagic.bench_modes is left as it was: 'fast' is no optimization mode" in caplog.text


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.words = []

    def handle_data(self, data):
        self.words.append(data)


def test_a_notebook_gets_a_panel_and_a_copy_that_needs_no_kernel(kernel):
    kernel.run(SETUP)
    reply = kernel.run(f"%%torchbench --modes channels_last,inference --steps 24\n{LOOP}")
    assert (reply.status, reply.kinds) == ("ok", ["panel", "static"])
    copy = next(
        each["data"] for _, each in reply.outputs if "text/html" in each.get("data", {}) and each["data"]["text/html"]
    )
    parser = _Text()
    parser.feed(copy["text/html"])
    text = " ".join(" ".join(parser.words).split())
    for told in ("A step is one pass of the loop at line 2", "plain loop", "channels_last", "Do they compute the same"):
        assert told in text
    assert "<script" not in copy["text/html"]
    assert "A step is one pass of the loop at line 2" in copy["text/plain"]
    assert kernel.run("%%torchbench\nx = 1").kinds == ["stderr"]
