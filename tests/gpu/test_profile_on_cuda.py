"""This file tests a profile on CUDA: kernels, gaps between them, streams, copies and reserved memory."""

import time

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.records.accelerator import AcceleratorRecord
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.note import FailureRecord
from torchmagic.records.profile import PhasesRecord, ProfileRecord
from torchmagic.records.speed import RepeatedCopyRecord

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
STEPS = 6


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    torchmagic.session.clear()
    torchmagic.session.close()


def train(step=lambda _: None):
    """Train a network of which each product takes far longer than its launch."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    rows = torch.randn(2048, 2048)
    for number in range(STEPS + 3):
        batch = (rows + number).to("cuda")
        step(number)
        opt.zero_grad()
        net(batch).square().mean().backward()
        opt.step()
        torch.cuda.synchronize()
    return [each.detach().clone() for each in net.parameters()]


def profile(step=lambda _: None, **settings):
    with torchmagic.profile(**{"steps": STEPS, "warmup": 2, "save": False, **settings}) as run:
        train(step)
    assert not run.of(FailureRecord)
    return run


def one(run, kind):
    (found,) = run.of(kind)
    return found


def test_the_bits_are_the_same():
    plain = train()
    with torchmagic.profile(steps=STEPS, save=False, memory=True, shapes=True):
        profiled = train()
    assert all(torch.equal(one, other) for one, other in zip(plain, profiled, strict=True))


def test_kernels_belong_to_the_operators_modules_and_lines_that_launched_them():
    run = profile(flops=True)
    window, costs = one(run, ProfileRecord), one(run, CostsRecord)
    assert window.device == "cuda"
    assert 0 < window.busy <= window.seconds
    by_path = {each.path: each for each in costs.modules}
    assert by_path["0"].device > by_path["2"].device >= 0
    assert by_path[""].device == pytest.approx(sum(by_path[path].device for path in "012"))
    products = [each for each in costs.operators if each.name in {"aten::addmm", "aten::mm"}]
    assert {each.phase for each in products} == {"forward", "backward"}
    computing = [each.device or 0.0 for each in costs.operators if each.phase in {"forward", "backward"}]
    assert sum(each.device for each in products) > 0.3 * sum(computing)  # copies of unpinned memory may take longer
    assert sum(each.device or 0.0 for each in costs.operators) <= 1.02 * window.busy  # one stream: nothing overlaps
    forward = 2 * 2048 * (2048 * 2048 + 2048 * 10)
    backward = forward + 2 * 2048 * 2048 * 10  # the batch needs no gradient
    assert window.flops == STEPS * (forward + backward)


def test_copies_to_the_device_are_the_transfer_and_have_their_line():
    run = profile()
    assert sum(one(run, PhasesRecord).transfer) > 0
    copies = [each for each in one(run, CostsRecord).operators if each.phase == "transfer"]
    assert 'batch = (rows + number).to("cuda")' in {each.place.source for each in copies if each.place is not None}


def test_a_device_that_waits_for_the_host_has_gaps_at_the_line_that_launched_late():
    def late(_):
        time.sleep(0.02)

    found = one(profile(late), AcceleratorRecord)
    assert found.idle > (STEPS - 1) * 0.02
    assert found.gaps[0].longest > 0.02
    assert found.gaps[0].place is not None
    assert one(profile(), AcceleratorRecord).idle < found.idle


def test_work_on_a_second_stream_is_told_apart_and_its_overlap_counted():
    side, square = torch.cuda.Stream(), torch.randn(2048, 2048, device="cuda")

    def beside(_):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(10):
                square @ square

    found = one(profile(beside), AcceleratorRecord)
    assert len(found.streams) == 2
    assert found.together >= 0
    assert sum(each.kernels for each in found.streams) == found.kernels
    assert sum(each.seconds for each in found.streams) == pytest.approx(found.busy + found.together, rel=0.02)


def test_the_memory_is_that_of_the_device_with_what_is_reserved_of_it():
    run = profile(memory=True)
    found, window = one(run, AcceleratorRecord), one(run, ProfileRecord)
    assert 0 < found.memory.allocated <= found.memory.reserved
    assert found.memory.largest_free + found.memory.allocated <= found.memory.reserved
    assert window.peak_bytes >= 4 * 2048 * 2048 * 2
    assert one(run, AllocationsRecord).phases


def test_a_table_that_is_copied_in_each_step_is_told_as_repeated():
    table = torch.randn(4096, 2048)
    run = profile(lambda _: table.to("cuda"))
    (found,) = run.of(RepeatedCopyRecord)
    assert (found.device, found.back, found.shape) == ("cuda:0", False, (4096, 2048))
    assert found.repeats == found.copies
    assert "repeated-host-device-copies" in [finding.rule for finding in run.findings]
