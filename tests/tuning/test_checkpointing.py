"""Blocks that are run again give the same bits, and nothing is changed twice."""

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from torchmagic.tuning.checkpointing import blocks_of, run_again
from torchmagic.tuning.optimize import optimize_model
from torchmagic.tuning.peak_memory import MIB, peak_memory


def gradients(run, model, inputs, target):
    torch.manual_seed(11)
    model.zero_grad()
    loss = nn.functional.cross_entropy(run(inputs), target)
    loss.backward()
    found = [each.grad.clone() for each in model.parameters()]
    return [loss.detach(), *found, *map(torch.clone, model.buffers()), torch.get_rng_state()]


class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(spectral_norm(nn.Linear(6, 6)), nn.Tanh()) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Silent(nn.Module):
    """Blocks whose running statistics are written by a kernel that counts no change, and that outputs depend on."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(SilentBlock() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class SilentBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("variance", torch.ones(6))

    def forward(self, x):
        return nn.functional.batch_norm(self.linear(x), self.mean, self.variance, training=True) * self.mean


class Counting(nn.Module):
    """Blocks with a buffer that is bound anew in each forward, and which the output depends on."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.register_buffer("scale", torch.tensor(1.0))

    def forward(self, x):
        self.scale = self.scale * 0.5
        return torch.tanh(self.linear(x) * self.scale)


@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer", "dropout", "transformer with dropout", "tied"])
def test_gradients_buffers_and_random_numbers_are_the_same_bits(case, name):
    one = case(name)
    model, (inputs, target) = one.training.model, one.batches[0]
    start = {key: each.clone() for key, each in model.state_dict().items()}
    plain = gradients(model, model, inputs, target)
    model.load_state_dict(start)
    assert blocks_of(model)
    found = gradients(optimize_model(model, "memory_efficient", micro_batches=1), model, inputs, target)
    assert all(map(torch.equal, plain, found))


@pytest.mark.parametrize("make", [Spectral, Counting, Silent])
def test_what_a_forward_does_to_buffers_is_done_once(make):
    torch.manual_seed(0)
    inputs, target = torch.randn(5, 6), torch.randint(0, 6, (5,))
    model, other = make(), make()
    other.load_state_dict(model.state_dict())
    plain = gradients(model, model, inputs, target)
    found = gradients(optimize_model(other, "memory_efficient", micro_batches=1), other, inputs, target)
    assert all(map(torch.equal, plain, found))


def test_blocks_are_run_twice_and_only_with_gradients(case):
    one = case("transformer")
    model, inputs = one.training.model, one.batches[0][0]
    calls = []
    model.encoder.layers[0].linear1.register_forward_hook(lambda *_: calls.append(1))
    optimised = optimize_model(model, "memory_efficient", micro_batches=1)
    optimised(inputs).sum().backward()
    assert len(calls) == 2
    with torch.no_grad():
        optimised(inputs)
    assert len(calls) == 3


def test_the_model_has_its_own_forwards_after_a_call_and_after_one_that_failed(case):
    one = case("cnn")
    model = one.training.model
    before = [dict(vars(each)) for each in model.modules()]
    optimised = optimize_model(model, "memory_efficient")
    optimised(one.batches[0][0]).sum()
    with pytest.raises(RuntimeError, match="channels"):
        optimised(torch.zeros(2, 5, 8, 8))
    assert [list(vars(each)) for each in model.modules()] == [list(each) for each in before]


def test_a_forward_of_a_blocks_own_comes_back():
    model = nn.Sequential(*(nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(2)))
    own = model[0].forward = lambda x: x * 2
    with run_again(blocks_of(model)):
        assert model[0].forward is not own
        assert torch.equal(model[0](torch.ones(2)), torch.full((2,), 2.0))
    assert model[0].forward is own


def test_less_is_held_at_once():
    torch.manual_seed(0)
    model = nn.Sequential(*(layer for _ in range(32) for layer in (nn.Linear(16, 16), nn.Tanh())))
    inputs, cpu = torch.randn(4096, 16), torch.device("cpu")

    def peak(run):
        return peak_memory(lambda: run(inputs).sum().backward(), cpu)

    plain = peak(model)
    assert plain > 32 * inputs.nbytes / MIB
    assert peak(optimize_model(model, "memory_efficient", micro_batches=1)) < 0.6 * plain


@pytest.mark.parametrize(
    ("model", "number"),
    [
        (nn.LSTM(3, 3), 0),
        (nn.Linear(3, 3), 0),
        (nn.Sequential(*(nn.Linear(3, 3) for _ in range(5))), 1),
        (nn.Transformer(8, 2, 3, 2, 8, batch_first=True), 5),
    ],
    ids=["lstm", "linear", "chain", "transformer"],
)
def test_blocks_are_rows_of_modules_and_chains_of_layers(model, number):
    assert len(blocks_of(model)) == number
