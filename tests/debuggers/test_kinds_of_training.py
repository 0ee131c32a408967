"""This file tests that every kind of training runs as without us, to the bit, and that its steps are seen."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord

STEPS = 6


def batches(features=8, classes=3, count=STEPS):
    generator = torch.Generator().manual_seed(3)
    for _ in range(count):
        yield torch.randn(16, features, generator=generator), torch.randint(0, classes, (16,), generator=generator)


def small():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


def autocast():
    net = small()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for x, y in batches():
        with torch.autocast("cpu", torch.bfloat16):
            loss = functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield net, loss


def grad_scaler():
    net = small()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    for x, y in batches():
        with torch.autocast("cpu", torch.bfloat16):
            loss = functional.cross_entropy(net(x), y)
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        yield net, loss


def accumulation():
    net = small()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for i, (x, y) in enumerate(batches(count=4 * STEPS)):
        loss = functional.cross_entropy(net(x), y) / 4
        loss.backward()
        if i % 4 == 3:
            opt.step()
            opt.zero_grad()
            yield net, loss


def functional_model():
    net = small()
    weights = {name: value.detach().clone() for name, value in net.named_parameters()}

    def loss_of(given, x, y):
        return functional.cross_entropy(torch.func.functional_call(net, given, (x,)), y)

    for x, y in batches():
        gradients, loss = torch.func.grad_and_value(loss_of)(weights, x, y)
        weights = {name: value - 0.1 * gradients[name] for name, value in weights.items()}
        net.load_state_dict(weights)
        yield net, loss


def no_module():
    weight = torch.randn(8, 3, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.1)
    holder = nn.ParameterList()
    for x, y in batches():
        loss = functional.cross_entropy(x @ weight, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield holder, loss


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2))
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        return self.last(checkpoint(self.first, x, use_reentrant=False))


def checkpointing():
    yield from plain(Checkpointed())


class Tied(nn.Module):
    def __init__(self, *, sparse=False):
        super().__init__()
        self.embedding = nn.Embedding(8, 16, sparse=sparse)
        self.head = nn.Linear(16, 8, bias=False)
        if not sparse:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


def weight_tying():
    net = Tied()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _, y in batches(classes=8):
        loss = functional.cross_entropy(net(y), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield net, loss


def sparse_gradients():
    net = Tied(sparse=True)
    sparse = torch.optim.SparseAdam(net.embedding.parameters(), lr=1e-2)
    dense = torch.optim.SGD(net.head.parameters(), lr=1e-2)
    for _, y in batches(classes=8):
        loss = functional.cross_entropy(net(y), y)
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()
        yield net, loss


def parametrized():
    yield from plain(
        nn.Sequential(
            parametrizations.weight_norm(nn.Linear(8, 16)), nn.Tanh(), parametrizations.spectral_norm(nn.Linear(16, 3))
        )
    )


def frozen_quantised_backbone():
    with warnings.catch_warnings(action="ignore"):
        backbone = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), {nn.Linear})
    head = nn.Linear(8, 3)
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in batches():
        with torch.no_grad():
            features = backbone(x)
        loss = functional.cross_entropy(head(features), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield head, loss


class ComplexNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 3, dtype=torch.complex64))

    def forward(self, x):
        return (x.to(torch.complex64) @ self.weight).abs()


def complex_parameters():
    yield from plain(ComplexNet())


def meta_beside():
    with torch.device("meta"):
        shadow = small()
    net = small()
    for pair in plain(net):
        shadow(torch.empty(4, 8, device="meta"))
        yield pair


def half_weights():
    net = small().bfloat16()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for x, y in batches():
        loss = functional.cross_entropy(net(x.bfloat16()).float(), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield net, loss


def lazy_modules():
    net = nn.Sequential(nn.LazyLinear(16), nn.ReLU(), nn.LazyLinear(3))
    net(torch.zeros(2, 8))
    yield from plain(net)


def adversaries():
    maker, judge = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8)), nn.Sequential(nn.Linear(8, 1))
    makers, judges = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for x, _ in batches():
        fake = maker(torch.randn(16, 4))
        judges.zero_grad()
        loss = functional.softplus(judge(fake.detach())).mean() + functional.softplus(-judge(x)).mean()
        loss.backward()
        judges.step()
        makers.zero_grad()
        functional.softplus(-judge(fake)).mean().backward()
        makers.step()
        yield nn.ModuleList([maker, judge]), loss


def moving_average():
    net = small()
    shadow = copy.deepcopy(net)
    for _, loss in plain(net):
        with torch.no_grad():
            for slow, fast in zip(shadow.parameters(), net.parameters(), strict=True):
                slow.lerp_(fast, 0.1)
        yield shadow, loss


def second_derivative():
    net = small()
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for x, y in batches():
        x.requires_grad_()
        loss = functional.cross_entropy(net(x), y)
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        opt.zero_grad()
        (loss + slope.pow(2).sum()).backward()
        opt.step()
        yield net, loss


def reused_modules():
    shared = nn.Linear(8, 8)
    yield from plain(nn.Sequential(shared, nn.ReLU(inplace=True), shared, nn.Linear(8, 3)))


def plain(net):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for x, y in batches():
        loss = functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield net, loss


KINDS = (
    autocast, grad_scaler, accumulation, functional_model, no_module, checkpointing, weight_tying, sparse_gradients,
    parametrized, frozen_quantised_backbone, complex_parameters, meta_beside, half_weights, lazy_modules, adversaries,
    moving_average, second_derivative, reused_modules,
)  # fmt: skip
WITHOUT_STEPS = {functional_model}


def outcome(kind):
    torch.manual_seed(1)
    losses, net = [], None
    for net, loss in kind():  # noqa: B007 - the last net is wanted
        losses.append(loss.detach().clone())
    return torch.stack(losses), {name: value.clone() for name, value in net.state_dict().items()}, torch.get_rng_state()


@pytest.mark.filterwarnings("ignore:.*quantization.*:DeprecationWarning")
@pytest.mark.parametrize("level", ["basic", "intermediate", "advanced", "expert"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_runs_as_without_us_and_is_seen(kind, level):
    losses, weights, stream = outcome(kind)
    with watch(save=False, level=level) as run:
        watched_losses, watched_weights, watched_stream = outcome(kind)
    assert not run.of(FailureRecord)
    assert not [finding for finding in run.findings if finding.severity == "error"]
    assert torch.equal(losses, watched_losses)
    assert all(torch.equal(value, watched_weights[name]) for name, value in weights.items())
    assert torch.equal(stream, watched_stream)
    if kind not in WITHOUT_STEPS:
        assert run.steps == STEPS * (2 if kind in (sparse_gradients, adversaries) else 1)
        assert len(run.series("loss")[0]) >= STEPS
        assert len(run.series("grad_norm")[0]) >= STEPS
