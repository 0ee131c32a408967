"""This file tests work in a process that is forked off: its answer, its end in every case, and that nothing is left."""

import contextlib
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import psutil
import pytest
import torch
from torch import nn

from torchmagic.probes.hooked import load_compiler
from torchmagic.profiling import compile_trial, forked
from torchmagic.profiling.compile_trial import try_compiling
from torchmagic.profiling.forked import UnansweredError, cannot_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked off on Linux only")


def open_descriptors():
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that listed them
            yield each.name, each.readlink()


def things():
    """What may only have grown less: what earlier tests left to the garbage may go at any moment."""
    return {
        *psutil.Process().children(recursive=True),
        *threading.enumerate(),
        *open_descriptors(),
        *Path(tempfile.gettempdir()).glob("torchmagic-compile-*"),
    }


def settings():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return environment, list(warnings.filters), gc.isenabled()


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the common one is other tests' as well
    load_compiler()  # as a run does before all else
    gc.collect()
    had, were = things(), settings()
    yield
    assert settings() == were
    assert things() - had == set()


def test_the_answer_comes_back_and_what_the_work_changed_does_not():
    names = {"changed": False}

    def work():
        names["changed"] = True
        os.environ["TORCHMAGIC_TEST"] = "1"
        return {"sum": torch.ones(300, 300).mm(torch.ones(300, 300)).sum().item(), "pid": os.getpid()}

    torch.ones(300, 300).mm(torch.ones(300, 300))  # its threads are there, and stay behind
    answer = forked.forked(work, patience=30.0)
    assert answer["sum"] == 300.0**3
    assert answer["pid"] != os.getpid()
    assert not names["changed"]


def test_a_backward_works_there_too():
    net, rows = nn.Linear(50, 50), torch.randn(20, 50)
    net(rows).sum().backward()

    def work():
        net.zero_grad()
        net(rows).sum().backward()
        return net.bias.grad.tolist()

    assert forked.forked(work, patience=30.0) == [20.0] * 50


def test_what_it_raises_is_told_in_one_line(capfd):
    def work():
        sys.stdout.write("to nobody")
        os.system("echo to nobody")  # noqa: S605 - as a compiler may
        raise ValueError("mine\nand more")

    with pytest.raises(UnansweredError, match=r"^ValueError: mine$"):
        forked.forked(work, patience=30.0)
    assert capfd.readouterr() == ("", "")


def test_a_process_that_dies_has_no_answer():
    with pytest.raises(UnansweredError, match="ended without an answer"):
        forked.forked(lambda: os._exit(1), patience=30.0)


def test_what_takes_too_long_is_ended_with_all_that_it_started():
    def work():
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        time.sleep(60)

    began = time.monotonic()
    with pytest.raises(UnansweredError, match="longer than 1 s"):
        forked.forked(work, patience=1.0)
    assert time.monotonic() - began < 30


def test_an_interrupt_ends_it_too(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(forked.select, "select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        forked.forked(lambda: time.sleep(60), patience=30.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, rows):
        for _ in range(20):
            rows = torch.tanh(self.layer(rows))
        return rows


def passing(module):
    rows = torch.ones(4, 8)
    return lambda: module(rows).sum().backward()


def test_compiling_is_tried_and_leaves_the_code_of_the_class_alone():
    modules, state = set(sys.modules), torch.get_rng_state()
    found = try_compiling(Net, passing, backend="eager")
    assert set(sys.modules) == modules
    assert torch.equal(torch.get_rng_state(), state)
    assert found["preparation"] > 0
    assert min(found["before"], found["after"]) > 0
    assert found["trials"] >= 3
    assert not torch._dynamo.eval_frame._debug_get_cache_entry_list(Net.forward.__code__)


def test_code_that_the_user_has_compiled_stays_compiled():
    net, rows = torch.compile(Net(), backend="eager"), torch.ones(4, 8)
    net(rows)
    entries = torch._dynamo.eval_frame._debug_get_cache_entry_list(Net.forward.__code__)
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    try_compiling(Net, passing, backend="eager")
    net(rows)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs
    assert len(torch._dynamo.eval_frame._debug_get_cache_entry_list(Net.forward.__code__)) == len(entries) == 1
    torch._dynamo.reset()


def test_where_no_process_can_be_forked_off_that_is_said(monkeypatch):
    assert not cannot_fork()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.raises(UnansweredError, match="an accelerator cannot be used in a process that is forked off"):
        try_compiling(Net, passing)


def test_a_compiler_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(compile_trial, "PATIENCE", 0.2)
    with pytest.raises(UnansweredError, match="longer than 0 s"):
        try_compiling(lambda: time.sleep(60), passing)


def test_a_process_that_is_forked_off_does_not_make_python_forget_what_it_has_warned_of():
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            assert forked.forked(lambda: 1, patience=60) == 1
    assert len(shown) == 1
