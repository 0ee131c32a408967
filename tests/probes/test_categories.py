"""This file tests what memory is used for against bytes that are counted by hand."""

import pytest
import torch

from torchmagic.probes.graph_walk import READABLE, walk
from torchmagic.records.memory import UnseenGraphRecord

LOOP = """
for step in range(6):
    x, y = torch.randn(64, 16), torch.randint(0, 4, (64,))
    opt.zero_grad()
    out = net(x)
    loss = F.cross_entropy(out, y)
    loss.backward()
    opt.step()
"""
MLP = "net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))\n"
WEIGHTS = (16 * 32 + 32 + 32 * 4 + 4) * 4
# one step counter of four bytes a parameter, and two moments
ADAM = 2 * WEIGHTS + 4 * 4
# the rectifier's output, the log-probabilities, and the total weight of the loss
SAVED = 64 * 32 * 4 + 64 * 4 * 4 + 4
BATCH = 64 * 16 * 4 + 64 * 8


def row(run, at):
    """Return the categories of one recorded step, without what else the process has."""
    names = ("parameters", "gradients", "optimizer state", "activations", "batch")
    return {name: run.series("memory_bytes", name=name)[1][at] for name in names}


def test_the_bytes_of_a_small_network_under_adam_are_exact(run_cell):
    run, _ = run_cell(MLP + "opt = torch.optim.Adam(net.parameters())\n" + LOOP)
    assert row(run, 2) == {
        "parameters": WEIGHTS,
        "gradients": 0,
        "optimizer state": ADAM,
        "activations": SAVED,
        "batch": BATCH,
    }


def test_the_first_step_has_no_state_when_its_backward_begins(run_cell):
    run, _ = run_cell(MLP + "opt = torch.optim.Adam(net.parameters())\n" + LOOP)
    assert row(run, 0)["optimizer state"] == 0
    assert row(run, 0)["activations"] == SAVED


def test_where_gradients_and_state_outweigh_the_graph_the_end_of_the_step_is_recorded(run_cell):
    source = LOOP.replace("(64, 16)", "(2, 16)").replace("(64,)", "(2,)")
    run, _ = run_cell(MLP + "opt = torch.optim.Adam(net.parameters())\n" + source)
    found = row(run, 2)
    assert (found["gradients"], found["activations"]) == (WEIGHTS, 0)
    assert found["optimizer state"] == ADAM


def test_gradients_that_are_kept_as_zeros_count_at_the_backward_too(run_cell):
    source = LOOP.replace("zero_grad()", "zero_grad(set_to_none=False)")
    run, _ = run_cell(MLP + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + source)
    assert row(run, 2) == {
        "parameters": WEIGHTS,
        "gradients": WEIGHTS,
        "optimizer state": 0,
        "activations": SAVED,
        "batch": BATCH,
    }


def test_a_convolution_with_batch_norm_counts_its_buffers_and_its_saved_statistics(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Flatten())
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for step in range(4):
            x = torch.randn(4, 3, 10, 10)
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """
    )
    weights = (3 * 8 * 9 + 8 + 8 + 8) * 4
    buffers = (8 + 8) * 4 + 8
    maps = 4 * 8 * 8 * 8 * 4
    assert row(run, 2) == {
        "parameters": weights + buffers,
        "gradients": 0,
        "optimizer state": weights,
        # what the convolution gave; what the normalisation gave, rectified in place, of which the square is taken
        "activations": 2 * maps + 2 * 8 * 4,
        "batch": 4 * 3 * 10 * 10 * 4,
    }


def test_tied_weights_count_once(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 50, bias=False))
        net[1].weight = net[0].weight
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            net(torch.randint(0, 50, (4,))).pow(2).mean().backward()
            opt.step()
        """
    )
    assert row(run, 0)["parameters"] == 50 * 8 * 4


def test_what_else_the_process_has_is_told_apart(run_cell):
    run, _ = run_cell(MLP + "opt = torch.optim.Adam(net.parameters())\n" + LOOP)
    assert run.series("memory_bytes", name="other")[1][2] > 50 * 2**20


@pytest.mark.skipif(not READABLE, reason="an older torch hides what was changed")
def test_a_tensor_that_was_changed_after_it_was_saved_is_counted_and_raises_only_in_the_users_backward(run_cell):
    source = """
        net = nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        out = net(torch.randn(8, 4)).exp()
        out.data_before = out._version
        with torch.no_grad():
            out.add_(1)
        version = out._version
        try:
            out.sum().backward()
        except RuntimeError as error:
            message = str(error)
        opt.step()
    """
    run, names = run_cell(source)
    assert "modified by an inplace operation" in names["message"]
    assert names["out"]._version == names["version"]
    assert row(run, 0)["activations"] == 8 * 4 * 4


def test_the_users_saved_tensor_hooks_are_not_run(run_cell):
    run, names = run_cell(
        """
        unpacked = []
        net = nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(step) or t):
            for step in range(3):
                loss = net(torch.randn(8, 4)).exp().sum()
                before = len(unpacked)
                loss.backward()
                opt.step()
        """
    )
    bare = torch.nn.Linear(4, 4)
    unpacked = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(1) or t):
        bare(torch.randn(8, 4)).exp().sum().backward()
    assert len(names["unpacked"]) == 3 * len(unpacked)
    assert "ExpBackward0" in run.of(UnseenGraphRecord)[0].nodes


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_is_said_to_be_out_of_sight_and_is_not_run_again(run_cell, reentrant):
    run, names = run_cell(
        f"""
        from torch.utils.checkpoint import checkpoint
        calls = []
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
            def forward(self, x):
                calls.append(1)
                return self.inner(x)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()
            def forward(self, x):
                return checkpoint(self.block, x, use_reentrant={reentrant})
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(4):
            net(torch.randn(8, 4, requires_grad=True)).sum().backward()
            opt.step()
        """
    )
    assert len(names["calls"]) == 8
    (record,) = run.of(UnseenGraphRecord)
    assert record.complete
    assert record.nodes


def test_a_custom_function_is_counted_with_what_it_keeps_on_its_context(run_cell):
    run, _ = run_cell(
        """
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.kept = torch.ones(100)
                return 2 * x
            @staticmethod
            def backward(ctx, g):
                return 2 * g
        net = nn.Linear(4, 8)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            Twice.apply(net(torch.randn(8, 4))).sum().backward()
            opt.step()
        """
    )
    assert row(run, 0)["activations"] == 8 * 8 * 4 + 100 * 4


def test_gradients_that_are_sparse_count_their_indices_and_values(run_cell):
    run, _ = run_cell(
        """
        net = nn.Embedding(1000, 8, sparse=True)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            opt.zero_grad()
            net(torch.tensor([1, 2])).sum().backward()
            opt.step()
        """
    )
    assert row(run, 1)["parameters"] == 1000 * 8 * 4
    assert row(run, 1)["gradients"] == 2 * 8 + 2 * 8 * 4


@pytest.mark.filterwarnings("ignore:Complex modules")
@pytest.mark.parametrize(
    "model",
    [
        "nn.Linear(4, 4).to(torch.bfloat16)",
        "nn.Linear(4, 4).to(torch.complex64)",
        "nn.Sequential(nn.LazyLinear(4))",
        "nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))",
    ],
)
def test_unusual_models_are_counted_or_left_out_but_never_disturbed(run_cell, model):
    run, _ = run_cell(
        f"""
        net = {model}
        kind = next((p.dtype for p in net.parameters() if not nn.parameter.is_lazy(p)), torch.float32)
        net(torch.ones(2, 4, dtype=kind))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            opt.zero_grad()
            net(torch.ones(2, 4, dtype=kind)).abs().sum().backward()
            opt.step()
        """,
        without="anomaly,activations",
    )
    assert row(run, 2)["parameters"] > 0


def test_categories_are_told_from_the_advanced_level_on(run_cell):
    source = MLP + "opt = torch.optim.Adam(net.parameters())\n" + LOOP
    assert run_cell(source, level="intermediate")[0].subjects("memory_bytes") == ()
    assert run_cell(source, level="expert")[0].subjects("memory_bytes")
    assert run_cell(source, without="memory")[0].subjects("memory_bytes") == ()


def test_a_graph_that_is_too_large_is_said_so_and_left_alone(run_cell, monkeypatch):
    monkeypatch.setitem(walk.__kwdefaults__, "most", 5)
    run, _ = run_cell(MLP + "opt = torch.optim.Adam(net.parameters())\n" + LOOP)
    assert run.subjects("memory_bytes") == ()
    (record,) = run.of(UnseenGraphRecord)
    assert not record.complete


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_cuda_the_same_bytes_are_counted_and_the_rest_is_what_the_allocator_gave(run_cell):
    source = LOOP.replace("(64, 16)", "(64, 16, device='cuda')").replace("(64,))", "(64,), device='cuda')")
    run, _ = run_cell(MLP + "net = net.cuda()\nopt = torch.optim.Adam(net.parameters(), foreach=True)\n" + source)
    found = row(run, 2)
    assert found["parameters"] >= WEIGHTS
    assert found["activations"] >= SAVED - 4
    assert found["batch"] == BATCH
    assert 0 <= run.series("memory_bytes", name="other")[1][2] < 2**20 * 128  # most of it cuBLAS's own
