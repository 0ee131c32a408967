"""This file tests that a run, however it ended, leaves torch and Python as it found them."""

import contextlib
import gc
import subprocess
import sys
import threading
import warnings
import weakref
from types import FunctionType

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.optim import lr_scheduler, optimizer
from torch.utils.data import DataLoader, TensorDataset, dataloader

from torchmagic.debuggers.settings import PROBES, Settings
from torchmagic.debuggers.switches import switches
from torchmagic.debuggers.watching import Watch, watch
from torchmagic.session.session import Session

lr_schedulers = [each for each in vars(lr_scheduler).values() if isinstance(each, type)]
HOOKED = (torch.nn.modules.module, optimizer)
PATCHED = (
    nn.Module,
    nn.Sequential,
    torch,
    torch.autograd,
    torch.Tensor,
    functional,
    nn.init,
    nn.utils,
    nn.utils.clip_grad,
    torch.amp.GradScaler,
    torch.optim.Optimizer,
    dataloader._BaseDataLoaderIter,
    dataloader._SingleProcessDataLoaderIter,
    *lr_schedulers,
    DataLoader,
)
# Modules that torch loads on first use appear in its namespace; that is torch's own doing.
LAZY = (type(sys),)


def snapshot():
    hooks = {
        (room.__name__, name): dict(value)
        for room in HOOKED
        for name, value in vars(room).items()
        if name.startswith("_global") and isinstance(value, dict)
    }
    attributes = {
        (owner, name): value for owner in PATCHED for name, value in vars(owner).items() if not isinstance(value, LAZY)
    }
    functions = [value for value in attributes.values() if isinstance(value, FunctionType)]
    return {
        "hooks": hooks,
        "attributes": attributes,
        "bodies": {id(each): (each.__code__, dict(vars(each))) for each in functions},
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "anomaly mode": torch.is_anomaly_enabled(),
        "dispatch modes": torch.utils._python_dispatch._len_torch_dispatch_stack(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "threads": set(threading.enumerate()),
        "filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "trace": sys.gettrace(),
        "profile": sys.getprofile(),
        "excepthook": sys.excepthook,
        "displayhook": sys.displayhook,
    }


def compare(before, after):
    for part, value in before.items():
        if part == "attributes":
            changed = {key for key in value | after[part] if value.get(key) is not after[part].get(key)}
            assert not {name for owner, name in changed if not name.startswith(("__annot", "__warning"))}
        elif part == "threads":  # one of an earlier test may end meanwhile
            assert after[part] <= value
        else:
            assert after[part] == value, part


def train(steps=5, *, error=None, broken=False):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.randn(8 * steps, 4), torch.randint(0, 3, (8 * steps,))), batch_size=8)
    for step, (x, y) in enumerate(loader):
        opt.zero_grad()
        scores = net(x).softmax(1)
        loss = functional.cross_entropy(scores.log() * 0 if broken else scores, y)
        loss = loss + ((scores.sum(1, keepdim=True) - y.float()) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if error is not None and step == steps // 2:
            raise error
        opt.step()
    return net, opt, x


def run_well():
    with watch(save=False, every=1):
        train()


def run_raising():
    with pytest.raises(KeyError), watch(save=False, every=1):
        train(error=KeyError("mine"))


def run_interrupted():
    with pytest.raises(KeyboardInterrupt), watch(save=False):
        train(error=KeyboardInterrupt())


def run_leaving():
    with pytest.raises(SystemExit), watch(save=False):
        train(error=SystemExit(1))


def run_nested():
    with watch(save=False):
        train()
        with watch(save=False, every=1):
            train()
        train()


def run_nested_raising():
    with contextlib.suppress(KeyError), watch(save=False), watch(save=False):
        train(error=KeyError("mine"))


def run_overlapping():
    first, second = watch(save=False), watch(save=False)
    first.__enter__()
    second.__enter__()
    train()
    first.__exit__(None, None, None)
    train()
    second.__exit__(None, None, None)


def run_raising_in_forward():
    with pytest.raises(RuntimeError), watch(save=False, every=1):
        nn.Linear(4, 2)(torch.randn(3, 7))


def run_switching():
    watching = Watch(Settings(save=False, level="expert", every=1), session=Session())
    watching.start()
    train()
    for names in (PROBES, PROBES[::2], PROBES[1::2]):
        switches.disable(*names)
        train()
        switches.enable(*names)
        train()
    switches.set_level("basic")
    train()
    switches.set_level("expert")
    train()
    watching.stop()
    switches.reset()


def run_with_all_switched_off():
    watching = Watch(Settings(save=False, every=1, level="expert"), session=Session())
    watching.start()
    train()
    switches.disable()
    train()
    assert not torch.is_anomaly_enabled()
    watching.stop()
    switches.reset()


def run_without_anything():
    with watch(save=False):
        pass


def run_with_nan():
    with watch(save=False, every=1):
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        torch.log(net(torch.randn(8, 4)).relu()).sum().backward()
        opt.step()


RUNS = (
    run_well,
    run_raising,
    run_interrupted,
    run_leaving,
    run_nested,
    run_nested_raising,
    run_overlapping,
    run_raising_in_forward,
    run_switching,
    run_with_all_switched_off,
    run_without_anything,
    run_with_nan,
)


@pytest.fixture(scope="module", autouse=True)
def _warmed_up():
    """Let torch load what it loads on first use."""
    train()
    run_well()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_nothing_is_left_after_it(run):
    before = snapshot()
    run()
    compare(before, snapshot())


def ours():
    """Return the names in torch behind which torchmagic stands at present."""
    codes = {key: getattr(value, "__code__", None) for key, value in snapshot()["attributes"].items()}
    return {key for key, code in codes.items() if code is not None and "torchmagic" in code.co_filename + code.co_name}


def test_a_probe_that_is_switched_off_while_a_run_goes_on_leaves_nothing_in_torch():
    with watch(save=False, without=PROBES):
        train()
        least = ours()
    watching = Watch(Settings(save=False, every=1, level="expert"), session=Session())
    watching.start()
    try:
        train(2)
        assert ours() > least
        switches.disable()
        train(1)
        assert ours() == least
    finally:
        watching.stop()
        switches.reset()


def test_a_generator_that_is_abandoned_leaves_nothing():
    def loop():
        with watch(save=False):
            train()
            yield

    before = snapshot()
    half = loop()
    next(half)
    half.close()
    compare(before, snapshot())


@pytest.mark.parametrize("error", [None, KeyError("mine")])
def test_no_object_of_the_user_is_kept_alive(error):
    refs = []

    def loop():
        net, opt, batch = train()
        loss = functional.cross_entropy(net(batch), torch.zeros(len(batch)).long())
        refs.extend(map(weakref.ref, (net, net[0].weight, opt, batch, loss)))
        loss.backward()
        opt.step()
        if error is not None:
            raise KeyError("mine")

    with contextlib.suppress(KeyError), watch(save=False, every=1):
        loop()
    gc.collect()
    assert [ref() for ref in refs] == [None] * 5


def test_a_step_keeps_no_tensor_alive_after_its_end():
    with watch(save=False, every=1):
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            batch = torch.randn(8, 4)
            loss = functional.mse_loss(net(batch), torch.zeros(8, 1))
            refs = [weakref.ref(batch), weakref.ref(loss)]
            loss.backward()
            opt.step()
            del batch, loss
            assert [ref() for ref in refs] == [None, None]


def test_what_somebody_else_patches_while_a_run_is_open_stays_theirs():
    original = nn.Module.train
    try:
        with watch(save=False):
            inner = nn.Module.train

            def theirs(module, mode=True):
                return inner(module, mode)

            nn.Module.train = theirs
        assert nn.Module.train is theirs
        nn.Linear(2, 2).eval()
    finally:
        nn.Module.train = original


@pytest.mark.parametrize(
    ("owner", "name"), [(nn.Module, "__call__"), (functional, "cross_entropy"), (torch, "sigmoid")]
)
def test_a_wrapper_that_somebody_put_back_after_its_run_is_gone_after_the_next(owner, name):
    original = getattr(owner, name)
    try:
        with watch(save=False, level="expert"):
            theirs = getattr(owner, name)
        setattr(owner, name, theirs)
        compiled = torch.compile(nn.Sequential(nn.Sequential(nn.Linear(4, 2))), backend="eager")
        with watch(save=False, level="expert"):
            assert compiled(torch.ones(1, 4)).shape == (1, 2)
        assert getattr(owner, name) is original
    finally:
        setattr(owner, name, original)
        torch._dynamo.reset()


FRESH = """
import gc
import subprocess
import sys
import torch
from torch import nn
import torchmagic
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch


def train():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Softmax(1), nn.Linear(8, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(3, 4)), torch.tensor([0, 1, 1])).backward()
        opt.step()

{run}
assert getattr(torch._dynamo.eval_frame._maybe_set_eval_frame, "__module__", "") != "torchmagic.probes.compile_wrappers"
assert not any("torchmagic" in type(finder).__module__ for finder in sys.meta_path)
from torch._dynamo import trace_rules

known = trace_rules.get_torch_obj_rule_map()
functions = torch.relu, torch.softmax, nn.functional.relu, nn.functional.cross_entropy, nn.functional.mse_loss
assert all(function in known for function in functions), "the compiler does not know torch's own functions"
gc.collect()
ours = [each for each in gc.get_objects() if type(each).__name__ == "function" and each.__module__ is not None
        and each.__code__.co_filename.endswith("wrappers.py") and "<locals>" in each.__code__.co_qualname
        and "torchmagic" in each.__code__.co_filename]
assert not ours, ours
"""


AT_ONCE = """
with torchmagic.watch(save=False, level="expert"):
    train()
"""
# A cell that does not say that it will step.
LATER = """
with Watch(Settings(save=False, level="expert"), source="train()") as run:
    assert "torch._dynamo" not in sys.modules
    wrapper = id(nn.Module.__call__)
    train()
    assert id(nn.Module.__call__) == wrapper
    assert "torchmagic" in torch._dynamo.eval_frame._maybe_set_eval_frame.__module__
assert run.steps == 3
"""
NEVER = """
with Watch(Settings(save=False), source="x.sum().backward()") as run:
    torch.ones(3, requires_grad=True).sum().backward()
assert "torch._dynamo" not in sys.modules
"""


@pytest.mark.parametrize("run", [AT_ONCE, LATER, NEVER + LATER], ids=["at once", "later", "in a later run"])
def test_a_process_whose_first_torch_call_was_watched_keeps_no_wrapper_not_even_in_the_compilers_tables(run):
    script = FRESH.replace("{run}", run)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
