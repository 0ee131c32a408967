"""This file tests that tensors whose numbers are not there to be read make no probe of ours fail."""

import math

import pytest
import torch
from odd_things import LEVELS, X, Y, train, watched
from torch import nn
from torch.nn import functional
from torch.utils._pytree import tree_map


def losses(scores, labels):
    """Return losses whose inputs and targets are looked into by several probes, as one."""
    parts = (
        functional.cross_entropy(scores, labels),
        functional.nll_loss(functional.log_softmax(scores, -1), labels),
        functional.binary_cross_entropy_with_logits(scores[:, 0], labels.float()),
        functional.mse_loss(scores[:, :1], labels[:, None].float()),
    )
    return sum(parts)


def mapped():
    """Gradients of single samples."""
    model = train(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), steps=2)
    params = {name: each.detach() for name, each in model.named_parameters()}

    def loss(params, x, y):
        return losses(torch.func.functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))

    torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, X, Y)
    torch.func.grad(lambda params: losses(torch.func.functional_call(model, params, (X,)), Y))(params)
    torch.vmap(lambda x, y: losses(model(x), y))(X.reshape(2, 8, 8), Y.reshape(2, 8))
    train(model, steps=2)


def without_memory():
    """A model on the meta device, as for a look at its shapes."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
        x, y = torch.empty(16, 8), torch.empty(16, dtype=torch.long)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for loss in (losses, functional.cross_entropy, losses):
        opt.zero_grad()
        loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    model.eval()
    with torch.no_grad():
        losses(model(x), y)


def imagined():
    """A training of tensors that are shapes alone, as for an estimate of its memory."""
    resting = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    resting.zero_grad()
    with torch._subclasses.FakeTensorMode():
        model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            losses(model(torch.empty(16, 8)), torch.zeros(16, dtype=torch.long)).backward()
            opt.step()


class Wrapping(torch.Tensor):
    """Holds a tensor, and computes each operator by itself."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass
        return made(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda each: each.inner if isinstance(each, cls) else each, (args, kwargs or {}))
        return tree_map(lambda each: cls(each) if isinstance(each, torch.Tensor) else each, function(*args, **kwargs))


class Strict(torch.Tensor):
    """Refuses to be read."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("item", "tolist", "numpy", "aminmax"):
            raise KeyError(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


def wrapped():
    model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    train(model, x=Wrapping(X))
    model.eval()
    with torch.no_grad():
        losses(model(Wrapping(X)), Y)
    train(model.train(), x=Wrapping(X * float("nan")), steps=1)


def wrapping_weights():
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    model[0].weight = nn.Parameter(Wrapping(model[0].weight.detach()))
    train(model)


def strict():
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    train(model, x=X.as_subclass(Strict))
    train(model, x=(X * float("nan")).as_subclass(Strict), steps=1)
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    model[0].weight = nn.Parameter(model[0].weight.detach().as_subclass(Strict))
    train(model)
    model.eval()
    with torch.no_grad():
        losses(model(X), Y)


def frozen():
    """TorchScript that was frozen has no mode, and no forward in its class."""
    backbone = torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Linear(8, 4), nn.ReLU()).eval()))
    head = train()
    backbone(X)
    model = nn.Sequential()
    for name, part in {"backbone": backbone, "head": nn.Linear(4, 2), "dropout": nn.Dropout(0.1)}.items():
        model.add_module(name, part)
    train(model)
    model.head.eval()
    model.training = False
    with torch.no_grad():
        losses(model(X), Y)
    train(head)


@LEVELS
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("work", [mapped, without_memory, imagined, wrapped, wrapping_weights, strict, frozen])
def test_tensors_that_cannot_be_read_here_and_now_are_not_read(work, level):
    watched(work, level=level)


def test_what_can_be_read_of_a_gradient_that_wraps_another_is_told():
    runs = []
    for x in (X, Wrapping(X)):
        torch.manual_seed(0)
        model = nn.Linear(8, 2)
        runs.append(watched(lambda x=x, model=model: train(model, x=x)))
    plain, wrapping = runs
    assert wrapping.subjects("grad_std") == plain.subjects("grad_std") != ()
    for metric, subject in (("grad_norm", ""), *(("grad_std", each) for each in plain.subjects("grad_std"))):
        steps, values = plain.series(metric, name=subject)
        assert wrapping.series(metric, name=subject) == (steps, pytest.approx(values, rel=1e-5))
    assert all(math.isnan(each) for each in wrapping.series("update_swallowed")[1])


@pytest.mark.parametrize("level", ["basic", "intermediate", "advanced", "expert"])
def test_weights_whose_memory_is_freed_between_their_uses_are_left_alone(level):
    net = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))
    first = net[0].weight
    kept, size = first.detach().clone(), first.untyped_storage().nbytes()

    def bring_back(*_):
        first.untyped_storage().resize_(size)
        first.data.copy_(kept)

    def free(*_):
        kept.copy_(first.data)
        first.untyped_storage().resize_(0)

    free()
    net[0].register_forward_pre_hook(bring_back)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.register_step_post_hook(free)

    def work():
        for _ in range(6):
            opt.zero_grad()
            functional.cross_entropy(net(X), Y).backward()
            opt.step()

    assert watched(work, level=level).steps == 6
