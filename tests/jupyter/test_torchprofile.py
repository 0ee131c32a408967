"""What a person sees of profiled cells in a kernel: the profile, in every ending, and nothing of it afterwards."""

import pytest

pytestmark = pytest.mark.kernel
MODEL = """
import time, torch, torchmagic
from torch import nn
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.head = nn.Linear(64, 64), nn.Linear(64, 3)
    def forward(self, x):
        hidden = torch.relu(self.inside(x))
        return self.head(hidden)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(64, 64), torch.randint(0, 3, (64,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
def last():
    return torchmagic.session.last
def window():
    (record,) = last().of(ProfileRecord)
    return record.first_step, record.steps, record.waited, record.warmed, record.cut
def costs():
    return last().of(CostsRecord)[-1]
"""
TRAIN = """
for epoch in range({epochs}):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        time.sleep(0.002)
"""
TITLES = ["Findings", "Profile", "Lines", "Modules", "Operators", "Steps", "Loaders"]
TABS = "from torchmagic.jupyter.panel.tabs import tab_pages; list(tab_pages(last()))"


@pytest.fixture(scope="module", autouse=True)
def model(kernel):
    assert kernel.run(MODEL).status == "ok"


@pytest.fixture(autouse=True)
def empty_session(kernel):
    kernel.run("torchmagic.session.clear()")


def train(epochs=4):
    return TRAIN.format(epochs=epochs)


def test_twenty_steps_after_two_to_warm_up_are_profiled(kernel):
    reply = kernel.run(f"%%torchprofile{train()}")
    assert (reply.status, reply.kinds) == ("ok", ["panel", "static"])
    assert kernel.run("window()").value == "(2, 20, 0, 2, '')"
    assert kernel.run("last().steps, last().status.value").value == "(32, 'ok')"


@pytest.mark.parametrize(
    ("options", "window"),
    [
        ("--steps 3 --wait 4 --warmup 1", "(5, 3, 4, 1, '')"),
        ("--active 5 --warmup 0", "(0, 5, 0, 0, '')"),
        ("--quick", "(1, 3, 0, 1, '')"),
        ("--steps 300", "(2, 30, 0, 2, 'ended')"),
    ],
)
def test_the_options_say_which_steps(kernel, options, window):
    assert kernel.run(f"%%torchprofile --panel none {options}{train()}").status == "ok"
    assert kernel.run("window()").value == window


def test_the_tabs_are_those_of_a_profile(kernel):
    kernel.run(f"%%torchprofile --panel none{train()}")
    tabs = eval(kernel.run(TABS).value)  # noqa: S307 - a list of names
    assert tabs[0] == "Findings"
    assert set(TITLES) <= set(tabs)
    assert "Memory" not in tabs
    kernel.run(f"%%torchprofile --panel none --quick --memory{train()}")
    assert "Memory" in eval(kernel.run(TABS).value)  # noqa: S307 - a list of names


def test_lines_of_the_cell_and_of_its_functions_have_their_times(kernel):
    kernel.run(f"%%torchprofile --panel none --quick{train()}")
    found = kernel.run("{line.place.source: (line.calls, round(line.own, 3)) for line in costs().lines}").value
    lines = eval(found)  # noqa: S307 - a dictionary of numbers
    calls, own = lines["time.sleep(0.002)"]
    assert calls == 3
    assert 0.006 <= own < 0.05
    assert lines["hidden = torch.relu(self.inside(x))"][0] == 3
    assert lines["loss.backward()"][0] == 3


def test_cells_are_called_as_a_person_calls_them_and_their_source_is_kept_unless_told_not_to(kernel):
    number = kernel.run(MODEL).count
    names = "{name: len(last().of(SourcesRecord)[0].texts) for name in last().of(SourcesRecord)[0].names.values()}"
    kernel.run(f"%%torchprofile --panel none --quick{train()}")
    assert eval(kernel.run(names).value) == {"this cell": 2, f"cell {number}": 2}  # noqa: S307 - plain values
    kernel.run(f"%%torchprofile --panel none --quick --no-source{train()}")
    assert eval(kernel.run(names).value) == {"this cell": 0, f"cell {number}": 0}  # noqa: S307 - plain values


def test_modules_have_forward_and_backward(kernel):
    kernel.run(f"%%torchprofile --panel none --quick{train()}")
    found = kernel.run("[(m.model, m.path, m.calls, m.forward > 0, m.backward > 0) for m in costs().modules]").value
    assert eval(found) == [  # noqa: S307 - a list of plain values
        ("net", "", 3, True, True),
        ("net", "inside", 3, True, True),
        ("net", "head", 3, True, True),
    ]


def test_a_cell_without_steps_is_profiled_whole(kernel):
    reply = kernel.run(
        "%%torchprofile --panel none\nwith torch.no_grad():\n    out = net(torch.ones(2, 64))\nout.shape"
    )
    assert reply.value == "torch.Size([2, 3])"
    assert kernel.run("window()").value == "(0, 0, 0, 0, '')"
    assert (
        kernel.run("any('linear' in each.name or 'addmm' in each.name for each in costs().operators)").value == "True"
    )


def test_a_cell_that_touches_no_torch_is_no_trouble(kernel):
    reply = kernel.run("%%torchprofile --panel text\nx = 20\nx + 1")
    assert (reply.status, reply.value) == ("ok", "21")


@pytest.mark.parametrize(
    ("ending", "status", "cut"),
    [("raise ValueError('mine')", "error", "error"), ("raise KeyboardInterrupt", "interrupted", "interrupted")],
)
def test_a_cell_that_ends_badly_shows_its_profile_after_the_traceback(kernel, ending, status, cut):
    reply = kernel.run(f"%%torchprofile --steps 500{train(1)}{ending}")
    assert reply.status == "error"
    assert reply.kinds == ["panel", "error", "static"]
    assert "torchmagic/" not in reply.traceback
    assert kernel.run("last().status.value, window()[1] > 0, window()[4]").value == f"('{status}', True, '{cut}')"


def test_the_text_for_terminals_and_programs_tells_the_profile(kernel):
    text = kernel.run(f"%%torchprofile --panel text --name mine{train()}").stream()
    assert text.startswith("run")
    assert "mine" in text.splitlines()[0]
    for word in ("Profile", "loss.backward()", "20 steps"):
        assert word in text, word


def test_a_run_is_shown_again_exported_and_compared(kernel):
    kernel.run(f"%%torchprofile --panel none --quick --name first{train()}")
    kernel.run(f"%%torchprofile --panel none --quick --name second{train()}")
    assert kernel.run("%torchsession show first").kinds == ["panel", "static"]
    for suffix in ("html", "md", "txt", "json"):
        assert kernel.run(f"%torchsession export profile.{suffix} --runs first").status == "ok"
        assert "loss.backward()" in kernel.run(f"print(open('profile.{suffix}').read())").stream()
    assert kernel.run("torchmagic.load('profile.json').of(ProfileRecord)[0].steps").value == "3"
    compared = kernel.run("print(torchmagic.session.compare('first', 'second'))").stream()
    assert "Phases of a usual step" in compared
    assert kernel.run("%torchsession compare first second").kinds == ["panel", "static"]


def test_a_baseline_is_found_before_the_cell_runs_and_shown_at_its_end(kernel):
    kernel.run(f"%%torchprofile --panel none --quick --name before{train()}")
    text = kernel.run(f"%%torchprofile --panel text --quick --baseline before --name after{train()}").stream()
    assert "Phases of a usual step" in text
    assert kernel.run("last().settings['baseline'] == torchmagic.session['before'].id").value == "True"
    assert "Phases of a usual step" in kernel.run("print(torchmagic.session.show('after'))").stream()


@pytest.mark.parametrize(
    ("baseline", "said"), [("nobody", "no run has the name or id 'nobody'"), ("plain", "(plain) has no profile")]
)
def test_a_baseline_that_cannot_be_one_is_one_line_and_the_cell_does_not_run(kernel, baseline, said):
    kernel.run(f"%%torchdebug --panel none --name plain{train(1)}")
    reply = kernel.run(f"%%torchprofile --baseline {baseline}\nran = True")
    assert reply.content["ename"] == "UsageError"
    assert said in reply.stream("stderr")
    assert (reply.stream("stderr").count("\n"), reply.kinds) == (1, ["stderr"])
    assert kernel.run("'ran' in globals()").value == "False"


@pytest.mark.parametrize("header", ["%%torchdebug\n%%torchprofile --quick", "%%torchprofile --quick\n%%torchdebug"])
def test_both_headers_make_one_run_that_is_watched_and_profiled(kernel, header):
    reply = kernel.run(f"{header}{train()}")
    assert (reply.status, reply.kinds) == ("ok", ["panel", "static"])
    assert kernel.run("len(torchmagic.session.runs), window()[1], len(last().series('loss')[0]) > 0").value == (
        "(1, 3, True)"
    )
    tabs = eval(kernel.run(TABS).value)  # noqa: S307 - a list of names
    assert {"Findings", "Profile", "Lines", "Curves", "Parameters"} <= set(tabs)
    assert "ran beside others" in kernel.run("print(torchmagic.session.show())").stream()


@pytest.mark.parametrize(
    "inner", ["%torchprofile net(torch.ones(1, 64));", "get_ipython().run_cell('%%torchprofile\\n1')"]
)
def test_a_profile_inside_a_watched_cell_adds_no_second_run(kernel, inner):
    reply = kernel.run(f"%%torchdebug --panel none\n{inner}")
    assert reply.status == "ok"
    assert kernel.run("len(torchmagic.session.runs)").value == "1"


def test_a_profiled_cell_makes_one_run_while_all_cells_are_watched(kernel):
    kernel.run("%torchdebug on --panel none")
    try:
        assert kernel.run(f"%%torchprofile --panel none --quick{train()}").status == "ok"
    finally:
        kernel.run("%torchdebug off")
    assert kernel.run("len(torchmagic.session.runs), window()[1]").value == "(1, 3)"


def test_a_profile_that_timeit_repeats_is_one_run(kernel):
    reply = kernel.run(f"%%timeit -n1 -r2\n%%torchprofile --quick{train(1)}")
    assert (reply.status, reply.kinds.count("static")) == ("ok", 1)
    assert kernel.run("len(torchmagic.session.runs)").value == "1"


def test_the_line_form_profiles_a_statement_and_gives_its_value(kernel):
    reply = kernel.run("y = %torchprofile --panel text net(torch.ones(1, 64)).shape\nprint('then')\ny")
    assert reply.value == "torch.Size([1, 3])"
    assert reply.kinds == ["stdout", "execute_result", "stdout"]
    assert kernel.run("[line.place.source for line in costs().lines]").value.count("self.head(hidden)") == 1
    assert "wants a statement" in kernel.run("%torchprofile --quick").stream("stderr")


def test_a_program_may_call_the_cell_form(kernel):
    reply = kernel.run("get_ipython().run_cell_magic('torchprofile', '--panel none', 'a = 3\\na + 1')")
    assert reply.value == "4"


def test_a_failing_verdict_ends_the_cell(kernel):
    slow = train().replace("time.sleep(0.002)", "loss.item()")
    assert kernel.run(f"%%torchprofile --panel none --fail-on error{slow}").status == "ok"


def test_a_trace_is_written_by_torch(kernel):
    kernel.run(f"%%torchprofile --panel none --quick --trace trace.json{train()}")
    assert kernel.run("import json; len(json.load(open('trace.json'))['traceEvents']) > 100").value == "True"


def test_nothing_is_left_in_functions_builtins_and_the_shell(kernel):
    before = kernel.run(
        "import builtins\nkept = Net.forward.__code__, len(vars(builtins)), list(get_ipython().ast_transformers)"
    )
    assert before.status == "ok"
    for body in (train(), train(1) + "raise ValueError", "\nnet(torch.ones(1, 64))"):
        kernel.run(f"%%torchprofile --panel none{body}")
        same = (
            "Net.forward.__code__ is kept[0], len(vars(builtins)) == kept[1], get_ipython().ast_transformers == kept[2]"
        )
        assert kernel.run(same).value == "(True, True, True)"
        assert kernel.run("torch.autograd._profiler_enabled()").value == "False"
