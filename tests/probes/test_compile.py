"""This file tests that watching what torch.compile makes changes neither the graphs nor how often they are made."""

import gc
import shutil
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch._dynamo import eval_frame
from torch._dynamo import utils as dynamo
from torch.nn import functional

from tests.probes.compiled_training import (
    STEPS,
    WAYS,
    Block,
    Net,
    Training,
    by_method,
    compiled,
    forget,
    of_a_part,
    of_model,
    of_the_loss,
    of_the_optimizer,
    of_the_step,
    through_block,
)
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.compiler import not_compiled
from torchmagic.records.model import ModelRecord
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.session.session import Session

pytestmark = [
    pytest.mark.usefixtures("compiler"),
    # The compiler's own, of itself.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
]

TABLES_MADE_ANEW = """
import torch
import torchmagic
from torch._dynamo import trace_rules

with torchmagic.watch(level="advanced", save=False):
    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        torch.softmax(net(torch.ones(2, 4)), 1).square().sum().backward()
        optimizer.step()
        trace_rules.clear_lru_cache()  # as torch.distributed.init_process_group does
        torch.compile(net)  # asks for them
known = trace_rules.get_torch_obj_rule_map()
print(all(each in known for each in (torch.relu, torch.softmax, torch.sigmoid, torch.tanh, torch.log_softmax)))
"""


@pytest.fixture(scope="module", autouse=True)
def nothing_compiled():
    """Leave no compiled code behind: what is left alive would be in the way of other tests."""
    yield
    forget()
    gc.collect()


@pytest.fixture
def compiler():
    """Begin without compiled code."""
    forget()


def same_bits(ours, theirs):
    assert torch.equal(torch.stack(ours.losses), torch.stack(theirs.losses))
    assert all(map(torch.equal, ours.net.parameters(), theirs.net.parameters()))


@pytest.mark.parametrize("way", WAYS)
def test_watching_adds_no_break_and_compiles_nothing_again(way):
    how, options = WAYS[way]
    bare, _, usual = compiled(how, **options)
    watched, run, found = compiled(how, {"level": "expert", "every": 1}, **options)
    same_bits(watched, bare)
    assert usual["graphs"]
    assert found["graphs"] == usual["graphs"]
    assert found["again"] == usual["again"]
    assert found["breaks"] <= usual["breaks"]
    assert set(found["named"]) <= set(usual["named"])
    assert not found["ours"]
    assert run.steps == STEPS
    assert len(run.series("loss")[0]) == len(run.series("grad_norm")[0]) == STEPS
    assert not run.of(FailureRecord)
    assert [each.rule for each in run.findings if each.severity != "info"] == []


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")
@pytest.mark.filterwarnings("ignore:Skipping serialization of:UserWarning")  # an older torch, of itself
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_each_mode_gives_the_same_bits_from_the_same_graphs(mode):
    options = {"backend": "inductor", "mode": mode, "kind": Block}
    bare, _, usual = compiled(through_block, **options)
    watched, run, found = compiled(through_block, {"every": 1}, **options)
    same_bits(watched, bare)
    assert found == usual
    assert run.steps == STEPS
    assert not run.of(FailureRecord)


@pytest.mark.parametrize(
    ("how", "models", "words"),
    [
        (of_model, ["call"], ["call is compiled: losses, gradients, weights and steps are seen; layers inside it"]),
        (by_method, ["net"], ["net is compiled: losses, gradients, weights and steps are seen; layers inside it"]),
        (of_a_part, ["net"], ["net.block is compiled: what it gives is seen; modules and losses inside it"]),
        (of_the_loss, [], ["Training._loss is compiled: what it gives is seen", "compile the model itself"]),
        (of_the_step, [], ["Training.step is compiled: what it gives is seen", "compile the model itself"]),
        (of_the_optimizer, ["net"], ["Training._update is compiled: what it gives is seen"]),
    ],
)
def test_what_is_not_seen_is_said_once(how, models, words):
    _, run, _ = compiled(how, {"every": 1}, backend="eager")
    assert [model.name for model in run.of(ModelRecord)] == models
    [note] = run.of(NoteRecord)
    assert all(each in note.text for each in words), note.text
    assert ("compile the model itself" in note.text) == (not models)


def test_outside_of_what_is_compiled_losses_and_layers_are_seen_again():
    net, double = (
        nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)),
        torch.compile(lambda x: x * 2, backend="eager"),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def fails(x):
        return functional.relu(x) @ x

    failing = torch.compile(fails, backend="eager")
    with Watch(Settings(save=False, every=1), session=Session()) as run:
        watched = functional.relu.__code__, functional.cross_entropy.__code__
        for _ in range(3):
            with pytest.raises(Exception, match="reduction dim"):
                failing(torch.ones(2, 3))
            assert (functional.relu.__code__, functional.cross_entropy.__code__) == watched
            functional.cross_entropy(net(double(torch.randn(8, 4))), torch.randint(0, 3, (8,))).backward()
            optimizer.step()
        assert (functional.relu.__code__, functional.cross_entropy.__code__) == watched
    assert functional.cross_entropy.__code__ is not watched[1]
    assert len(run.series("loss")[0]) == 3
    assert run.of(ModelRecord)


def test_a_mode_that_is_switched_inside_is_part_of_the_one_graph():
    net = Net()

    def loss(x, y):
        net.train()
        return functional.cross_entropy(net(x), y)

    whole = torch.compile(loss, backend="eager", fullgraph=True)
    with Watch(Settings(save=False, every=1), session=Session()) as run:
        for _ in range(2):
            whole(torch.randn(8, 4), torch.randint(0, 3, (8,))).backward()
    whole(torch.randn(8, 4), torch.randint(0, 3, (8,)))
    assert dynamo.counters["stats"]["unique_graphs"] == 1
    assert not run.of(FailureRecord)


def test_two_runs_that_overlap_keep_out_of_compiled_code_together():
    forget()
    training = Training(of_model)
    entry = eval_frame._maybe_set_eval_frame
    outer, inner = (Watch(Settings(save=False, every=1), session=Session()) for _ in range(2))
    training._compile()
    training._go(1)
    outer.start()
    training._go(1)
    inner.start()
    training._go(2)
    outer.stop()
    training._go(2)
    run = inner.stop()
    training._go(1)
    assert dynamo.counters["stats"]["unique_graphs"] == 1
    assert run.steps == 4
    assert eval_frame._maybe_set_eval_frame is entry


def test_a_method_that_a_tool_has_wrapped_is_compiled_as_without_us(monkeypatch):
    def wrap(own, *tools):
        def __call__(module, *args, **kwargs):  # noqa: N807 - it takes that name's place
            assert len(tools) == 1
            return own(module, *args, **kwargs)

        return __call__

    theirs = wrap(nn.Module.__call__, "a tool")
    not_compiled(theirs.__code__)  # as that of many packages is
    monkeypatch.setattr(nn.Module, "__call__", theirs)
    net = nn.Sequential(nn.Sequential(nn.Linear(4, 3)))
    training = torch.compile(net, backend="eager")
    with Watch(Settings(save=False, level="expert"), session=Session()) as run:
        for _ in range(3):
            functional.cross_entropy(training(torch.randn(8, 4)), torch.randint(0, 3, (8,))).backward()
    assert nn.Module.__call__ is theirs
    training(torch.randn(8, 4))
    assert dynamo.counters["stats"]["unique_graphs"] == 1
    assert not run.of(FailureRecord)


def test_functions_are_torchs_own_while_compiled_code_runs_and_stay_so_where_others_replaced_them(monkeypatch):
    own, seen = functional.mse_loss.__code__, []

    @torch.compiler.disable
    def look():
        seen.append((functional.mse_loss.__code__ is own, functional.l1_loss is theirs))

    def step(x):
        look()
        return x + 1

    def theirs(*_):
        return None

    monkeypatch.setattr(functional, "l1_loss", functional.l1_loss)  # what it puts back in the end
    with Watch(Settings(save=False), session=Session()):
        assert functional.mse_loss.__code__ is not own
        monkeypatch.setattr(functional, "l1_loss", theirs)
        torch.compile(step, backend="eager")(torch.ones(2))
        assert functional.l1_loss is theirs
    assert functional.l1_loss is theirs
    assert functional.mse_loss.__code__ is own
    assert seen == [(True, True)]


def test_what_others_have_put_in_the_place_of_a_function_is_still_there_after_compiled_code(monkeypatch):
    def theirs(*_):
        return None

    monkeypatch.setattr(nn.utils, "clip_grad_norm_", nn.utils.clip_grad_norm_)  # what it puts back in the end
    with Watch(Settings(save=False), session=Session()):
        monkeypatch.setattr(nn.utils, "clip_grad_norm_", theirs)
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
        assert nn.utils.clip_grad_norm_ is theirs
    assert nn.utils.clip_grad_norm_ is theirs


def test_the_class_of_all_modules_stays_as_it_is_where_compiled_code_begins():
    """To change a class empties what Python remembers of it and of all its heirs: too dear for every step."""
    seen = []

    @torch.compiler.disable
    def look():
        seen.append(dict(vars(nn.Module)))

    def step(x):
        look()
        return x + 1

    torch.compile(step, backend="eager")(torch.ones(2))  # from here on the compiler wraps constructors
    with Watch(Settings(save=False), session=Session()):
        before = dict(vars(nn.Module))
        torch.compile(step, backend="eager")(torch.ones(2))
    assert seen[1] == before


def test_functions_are_known_to_the_compiler_that_makes_its_tables_anew(tmp_path):
    """Opening a process group forgets the tables; what asks for them next must not find our wrappers in torch."""
    script = tmp_path / "script.py"
    script.write_text(TABLES_MADE_ANEW)
    done = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"
