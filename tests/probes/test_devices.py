"""This file tests what is told of devices; the meta device stands for a second one where there is no accelerator."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.records.activation import TensorFacts
from torchmagic.records.device import Cargo, DeviceRecord, DeviceTotal, TransferRecord

LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
"""


def test_a_model_is_told_once_with_its_parameters_buffers_and_inputs(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))\n"
        + LOOP.format(steps=20, loss="net(torch.randn(8 + step, 4)).sum()")
    )
    (record,) = run.of(DeviceRecord)
    assert (record.model, record.step) == ("net", 0)
    assert record.parameters == (DeviceTotal(device="cpu", num_tensors=4, num_bytes=4 * (12 + 3 + 3 + 3)),)
    assert record.buffers == (DeviceTotal(device="cpu", num_tensors=3, num_bytes=4 * 6 + 8),)
    assert record.inputs == (TensorFacts(shape=(8, 4), dtype="float32", device="cpu"),)
    assert not run.of(TransferRecord)


def test_an_input_of_another_dtype_is_told_with_the_new_optimizer(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 3)\n"
        + LOOP.format(steps=20, loss="net(torch.randn(8, 4)).sum()")
        + "net.double()\n"
        + LOOP.format(steps=20, loss="net(torch.randn(8, 4, dtype=torch.float64)).sum()")
    )
    first, second = run.of(DeviceRecord)
    assert (first.inputs[0].dtype, second.inputs[0].dtype, second.step) == ("float32", "float64", 21)
    assert second.parameters[0].num_bytes == 2 * first.parameters[0].num_bytes


def test_a_model_that_moves_is_told_again(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 3)\nnet(torch.zeros(1, 4))\nnet.to('meta')\nnet(torch.zeros(1, 4, device='meta'))\n",
        only=("device",),
        anomaly="off",
    )
    assert [record.parameters[0].device for record in run.of(DeviceRecord)] == ["cpu", "meta"]


def test_a_model_on_two_devices_shows_both(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 3))\nnet.other = nn.Linear(40, 3, device='meta')\n"
        "net.forward = lambda x: net[0](x)\nnet(torch.zeros(1, 4))\n",
        only=("device",),
    )
    assert [total.device for total in run.of(DeviceRecord)[0].parameters] == ["meta", "cpu"]


def test_an_input_that_the_model_brings_over_itself_is_a_transfer(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 1, device="meta")
            def forward(self, x):
                return self.lin(x.to("meta"))
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(20):
            net(torch.zeros(8, 4)).sum().backward()
            opt.step()
        """,
        only=("device",),
        anomaly="off",
    )
    found = run.of(TransferRecord)
    assert [record.step for record in found] == [0, 1, 2, 3, 4, 8, 16]
    assert {(record.what, record.source, record.target, record.num_bytes) for record in found} == {
        (Cargo.INPUT, "cpu", "meta", 128)
    }
    assert found[0].place.source == "net(torch.zeros(8, 4)).sum().backward()"


def test_a_batch_that_lies_elsewhere_than_the_model_is_a_transfer(run_cell):
    data = DataLoader(TensorDataset(torch.zeros(16, 4), torch.zeros(16)), batch_size=4)
    run, _ = run_cell(
        """
        net = nn.Linear(4, 1, device="meta")
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in data:
            net(x.to("meta")).sum().backward()
            opt.step()
        """,
        names={"data": data},
        only=("device",),
        anomaly="off",
    )
    found = run.of(TransferRecord)
    assert [record.step for record in found] == [0, 1, 2, 3]
    assert {(each.what, each.source, each.target, each.pinned, each.num_bytes) for each in found} == {
        (Cargo.BATCH, "cpu", "meta", None, 4 * 4 * 4 + 4 * 4)
    }


def test_a_loss_on_another_device_is_a_transfer(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(4, 1, device="meta")
        net(torch.zeros(2, 4, device="meta"))
        torch.zeros(1, requires_grad=True).sum().backward()
        """,
        only=("device",),
        anomaly="off",
    )
    assert [(each.what, each.source, each.target) for each in run.of(TransferRecord)] == [(Cargo.LOSS, "meta", "cpu")]


def test_devices_can_be_left_out(run_cell):
    run, _ = run_cell("net = nn.Linear(4, 3)\nnet(torch.zeros(1, 4))\n", without=("device",))
    assert not run.of(DeviceRecord)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("pinned", [True, False])
def test_on_cuda_batches_from_pinned_and_from_plain_memory_are_told_apart(run_cell, pinned):
    data = DataLoader(TensorDataset(torch.zeros(16, 4)), batch_size=4, pin_memory=pinned)
    run, _ = run_cell(
        """
        net = nn.Linear(4, 1).cuda()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for (x,) in data:
            net(x.cuda()).sum().backward()
            opt.step()
        """,
        names={"data": data},
    )
    assert {(each.what, each.target, each.pinned) for each in run.of(TransferRecord)} == {
        (Cargo.BATCH, "cuda:0", pinned)
    }
    assert run.of(DeviceRecord)[0].inputs[0].device == "cuda:0"
