"""Failed allocations, simulated and real: a step in parts is the whole step."""

import logging
import subprocess
import sys
import textwrap

import pytest
import torch
from torch.nn import functional

from torchmagic.guard.recovery_kinds import RecoveryError
from torchmagic.guard.splitting import Splitting
from torchmagic.guard.training_guard import TrainingGuard

CPU = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate"
ERRORS = [
    lambda: torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
    lambda: RuntimeError(CPU),
    lambda: RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    MemoryError,
]


def full_above(most, error=ERRORS[0]):
    def check(inputs):
        if inputs.shape[0] > most:
            raise error()

    return check


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(("size", "most"), [(37, 10), (16, 8), (3, 1), (16, 15)])
def test_a_step_in_parts_is_the_whole_step(training, size, most, error, caplog):
    whole = training(mixing=False, size=size, dtype=torch.float64).plain()
    hit = training(mixing=False, size=size, dtype=torch.float64)
    hit.model.before = full_above(most, error)
    with caplog.at_level(logging.WARNING, logger="torchmagic.guard"):
        hit.guarded()
    assert torch.allclose(hit.weights(), whole.weights(), rtol=1e-12, atol=1e-14)
    assert hit.losses == pytest.approx(whole.losses, rel=1e-12)
    assert hit.guard.micro_batch <= most
    assert hit.guard.last.num_parts == -(-size // hit.guard.micro_batch)
    assert f"out of memory with {size} samples at once; parts of at most {-(-size // 2)} from here on" in caplog.text
    assert set(hit.guard.error_tracker.counts) == {"memory"}
    assert set(hit.guard.counts) == {"halved"}


def test_in_single_precision_it_is_equal_within_a_millionth(training):
    whole = training(mixing=False, size=37).plain()
    hit = training(mixing=False, size=37)
    hit.model.before = full_above(10)
    hit.guarded()
    assert hit.losses[-1] == pytest.approx(whole.losses[-1], rel=1e-6)
    assert (hit.weights() - whole.weights()).abs().max() < 1e-6


class FullInBackward(torch.autograd.Function):
    """Fails in the backward, when some gradients are already there."""

    most = 8

    @staticmethod
    def forward(_ctx, values):
        return values.clone()

    @staticmethod
    def backward(_ctx, gradient):
        if gradient.shape[0] > FullInBackward.most:
            raise RuntimeError(CPU)
        return gradient


def test_memory_that_fails_in_the_backward_leaves_no_half_a_gradient(training):
    whole = training(mixing=False, dtype=torch.float64).plain()
    hit = training(mixing=False, dtype=torch.float64)
    inner = hit.model.model
    # the last layer's gradient is there when the backward fails
    inner[1].register_forward_hook(lambda _module, _inputs, output: FullInBackward.apply(output))
    hit.guarded()
    assert hit.guard.counts == {"halved": 1}
    assert torch.allclose(hit.weights(), whole.weights(), rtol=1e-12, atol=1e-14)


def test_a_size_that_was_learnt_is_kept_and_can_be_set_back(training):
    hit = training(mixing=False)
    hit.model.before = full_above(4)
    hit.guarded()
    assert hit.guard.counts == {"halved": 2}
    assert hit.guard.micro_batch == 4
    hit.guard.micro_batch = None
    hit.model.before = full_above(1000)
    for part in hit.guard.step(hit.batches[0]):
        with part as (inputs, targets):
            assert len(inputs) == 16
            part.backward(functional.cross_entropy(hit.model(inputs), targets))


def test_the_failed_attempt_leaves_statistics_and_random_numbers_as_they_were(training):
    seen = []

    def note(inputs):
        if not seen:
            seen.append((hit.model.state_dict()["model.1.running_mean"].clone(), torch.get_rng_state()))
            torch.rand(7)
            hit.model.model[1].running_mean.add_(1)
            raise MemoryError
        if len(seen) == 1:
            seen.append((hit.model.state_dict()["model.1.running_mean"].clone(), torch.get_rng_state()))

    hit = training(num_batches=1)
    hit.model.before = note
    hit.guarded()
    assert all(torch.equal(was, now) for was, now in zip(*seen, strict=True))


def test_batch_norm_is_said_to_make_a_difference(training):
    hit = training(num_batches=1)
    hit.model.before = full_above(8)
    hit.guarded()
    assert "not quite: batch norm takes its statistics of each part alone" in hit.guard.recoveries[0].text
    hit = training(num_batches=1, mixing=False)
    hit.model.before = full_above(8)
    hit.guarded()
    assert "not quite" not in hit.guard.recoveries[0].text


def test_a_mean_over_targets_that_are_not_ignored_stays_that_mean(training):
    def prepared(ignored):
        one = training(mixing=False, size=20, dtype=torch.float64)
        for number, (_, targets) in enumerate(one.batches):
            targets[: ignored(number)] = -100
        return one

    def differs(ignored, **settings):
        whole, hit = prepared(ignored).plain(), prepared(ignored)
        hit.model.before = full_above(5)
        hit.guarded(**settings)
        return not torch.allclose(hit.weights(), whole.weights(), rtol=1e-12, atol=1e-14)

    by_targets = Splitting(weight=lambda batch: (batch[1] != -100).sum())
    assert not differs(lambda number: 5 + number, splitting=by_targets)  # whole parts are ignored
    assert not differs(lambda _number: 3, splitting=by_targets)
    assert differs(lambda _number: 3)


def test_a_part_whose_loss_is_bad_is_told_by_its_number(training):
    one = training(mixing=False, num_batches=1)
    one.batches[0][1][8:12] = -100  # a mean of no targets
    one.guarded(micro_batch=4)
    assert one.guard.recoveries[0].text == "step 1: loss 3 of 4 is nan; batch skipped"


def test_a_sum_stays_a_sum(training):
    def prepared():
        one = training(mixing=False, size=20, dtype=torch.float64)
        one.loss_of = lambda outputs, targets: functional.cross_entropy(outputs, targets, reduction="sum") / 100
        return one

    whole = prepared().plain()
    hit = prepared()
    hit.model.before = full_above(7)
    hit.guarded(reduction="sum")
    assert torch.allclose(hit.weights(), whole.weights(), rtol=1e-12, atol=1e-14)
    assert hit.losses == pytest.approx(whole.losses, rel=1e-12)


def test_a_nested_batch_is_cut_where_it_has_samples(training):
    one = training(mixing=False, num_batches=1)
    inputs, targets = one.batches[0]
    batch = {
        "x": inputs,
        "more": [targets, {"names": [f"n{i}" for i in range(16)]}],
        "scale": torch.tensor(2.0),
        "id": 7,
    }
    guard = TrainingGuard(one.model, one.optimizer, micro_batch=6)
    sizes, names = [], []
    for part in guard.step(batch):
        with part as piece:
            sizes.append(len(piece["x"]))
            names += piece["more"][1]["names"]
            assert len(piece["more"][0]) == len(piece["x"])
            assert piece["scale"] is batch["scale"]
            assert piece["id"] == 7
            part.backward(functional.cross_entropy(one.model(piece["x"]), piece["more"][0]))
    assert sizes == [5, 5, 6]
    assert names == [f"n{i}" for i in range(16)]


def test_memory_for_not_even_one_sample_stops_and_changes_nothing(training):
    hit = training(num_batches=1)
    before = hit.bits()
    hit.model.before = full_above(0)
    with pytest.raises(RecoveryError, match="out of memory with one sample; use a smaller model") as caught:
        hit.guarded()
    assert isinstance(caught.value.__cause__, torch.cuda.OutOfMemoryError)
    after = hit.bits()
    assert {name for name in before if after[name] != before[name]} == set()
    assert all(each.grad is None for each in hit.model.parameters())


def test_a_guard_that_gives_up_leaves_no_half_a_gradient(training, monkeypatch):
    monkeypatch.setattr(FullInBackward, "most", 0)
    hit = training(num_batches=1, mixing=False)
    hit.model.model[1].register_forward_hook(lambda _module, _inputs, output: FullInBackward.apply(output))
    with pytest.raises(RecoveryError, match="out of memory with one sample"):
        hit.guarded()
    assert all(each.grad is None for each in hit.model.parameters())


def test_a_batch_that_cannot_be_cut_stops_and_says_so(training):
    hit = training(num_batches=1)
    guard = TrainingGuard(hit.model, hit.optimizer)

    def full(_text):
        raise MemoryError

    with pytest.raises(RecoveryError, match="a batch that cannot be cut; give the guard a Splitting for it"):
        guard.run(full, "a text")


def test_a_batch_whose_first_sizes_differ_is_not_cut_by_guessing(training):
    hit = training(num_batches=1)
    images, boxes = [torch.zeros(3, 8, 8), torch.zeros(3, 9, 7)], [torch.zeros(5, 4), torch.zeros(1, 4)]
    guard = TrainingGuard(hit.model, hit.optimizer, micro_batch=2)

    def full(_batch):
        raise MemoryError

    with pytest.raises(RecoveryError, match="a batch that cannot be cut"):
        guard.run(full, (images, boxes))


def test_a_batch_of_its_own_kind_is_cut_by_its_own_rule(training):
    hit = training(mixing=False, num_batches=1, dtype=torch.float64)
    inputs, targets = hit.batches[0]
    splitting = Splitting(num_samples=len, samples=lambda rows, begin, end: rows[begin:end])
    guard = TrainingGuard(hit.model, hit.optimizer, splitting=splitting)
    hit.model.before = full_above(5)
    rows = list(zip(inputs, targets, strict=True))

    def loss_of(some):
        return functional.cross_entropy(hit.model(torch.stack([x for x, _ in some])), torch.stack([y for _, y in some]))

    outcome = guard.run(loss_of, rows)
    assert outcome.num_parts == 4
    whole = training(mixing=False, num_batches=1, dtype=torch.float64).plain()
    assert torch.allclose(hit.weights(), whole.weights(), rtol=1e-12, atol=1e-14)


REAL = """
import logging, resource, sys
import torch
from torch import nn
from torch.nn import functional
from torchmagic import TrainingGuard

torch.set_num_threads(1)
logging.basicConfig(stream=sys.stdout, format="%(message)s")

def training():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 1024), *[nn.ReLU() for _ in range(8)], nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batches = [(torch.randn(16384, 64), torch.randn(16384, 1)) for _ in range(2)]
    return model, optimizer, batches

def loss_of(model):
    return lambda batch: functional.mse_loss(model(batch[0]), batch[1])

model, optimizer, batches = training()
plain = []
for batch in batches:
    optimizer.zero_grad()
    loss = loss_of(model)(batch)
    loss.backward()
    optimizer.step()
    plain.append(loss.item())
    del loss
weights = torch.cat([each.detach().reshape(-1) for each in model.parameters()])
del model, optimizer, batches

model, optimizer, batches = training()
guard = TrainingGuard(model, optimizer)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
# a whole batch keeps nine activations of 64 MB for its backward
resource.setrlimit(resource.RLIMIT_AS, (used + MORE, resource.RLIM_INFINITY))
losses = [guard.run(loss_of(model), batch).loss for batch in batches]
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
mine = torch.cat([each.detach().reshape(-1) for each in model.parameters()])
print("recoveries", [each.kind.value for each in guard.recoveries], guard.micro_batch)
print("losses", max(abs(a - b) / abs(b) for a, b in zip(losses, plain)))
print("weights", (mine - weights).abs().max().item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on address space is Linux's")
def test_a_real_failed_allocation_is_recovered_from():
    script = textwrap.dedent(REAL).replace("MORE", str(400 << 20))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(
        line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("recov", "losses", "weights"))
    )
    assert "halved" in said["recoveries"]
    assert "out of memory with 16384 samples at once" in done.stdout
    assert float(said["losses"]) < 1e-6
    assert float(said["weights"]) < 1e-6
