"""This file is models of many kinds, and a picture of all that a forward could change."""

import functools
import random
import warnings
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.norm(self.conv(x)) + x)


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.blocks = nn.Sequential(*[Residual(8) for _ in range(3)])
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.drop(self.blocks(self.stem(x)).mean((2, 3))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.rnn = nn.LSTM(6, 7, num_layers=2, dropout=0.3, batch_first=True)
        self.head = nn.Linear(7, 11)

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


class Moody(nn.Module):
    """Does in its forward whatever a forward could do to itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.calls, self.cache, self.seen, self.best = 0, {}, [], None
        self.generator = torch.Generator().manual_seed(3)

    def forward(self, x):
        self.calls += 1
        self.seen.append(x)
        self.cache["last"] = self.seen
        self.best = x.mean()
        self.new = self.calls
        x.mul_(2)
        with torch.no_grad():
            self.layer.weight.clamp_(-0.1, 0.1)
            self.layer.bias.data.add_(1)
            self.mean.lerp_(x.mean(0), 0.5)
        self.eval()
        self.layer.requires_grad_(False)
        noise = torch.rand(4, generator=self.generator) + torch.rand(4) + random.random() + float(np.random.rand())  # noqa: NPY002, S311
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return self.layer(x.float()) + noise


class Bound(nn.Module):
    """Keeps methods of its own, a partial of one, a weak reference to a part, and an object with a state."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1))
        self.step, self.again = self._step, functools.partial(self._step, times=2)
        self.part = weakref.ref(self.layer)
        self.counter = SimpleNamespace(value=0)
        self.total = 0

    def _step(self, x, times=1):
        self.total += times
        self.counter.value += times
        self.count += times
        return self.part()(x)

    def forward(self, x):
        return self.again(self.step(x))


class Penalty(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(self.layer(x).pow(2).sum(), x, create_graph=True)[0]


def closure_model():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    first, second = model[0], model[1]

    def forward(x):
        with torch.no_grad():
            first.weight.mul_(0.5)
        return second(first(x))

    model.forward = forward
    return model


def old_weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 4)), nn.Tanh())
    model(torch.rand(2, 4))
    return model


def quantised():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), {nn.Linear})


def scripted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))


def compiled():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.compile(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))


def frozen_half():
    model = Convolutional()
    model.stem.requires_grad_(requires_grad=False)
    model.blocks.eval()
    return model


def lazy():
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False)


# Name, what makes the model, and its input.
ZOO = {
    "convolutional": (Convolutional, lambda: torch.rand(2, 3, 8, 8)),
    "recurrent": (Recurrent, lambda: torch.randint(0, 11, (2, 5))),
    "tied": (Tied, lambda: torch.randint(0, 11, (2, 5))),
    "transformer": (encoder, lambda: torch.rand(2, 5, 8)),
    "transformer in evaluation mode": (lambda: encoder().eval(), lambda: torch.rand(2, 5, 8)),
    "partly frozen, modes mixed": (frozen_half, lambda: torch.rand(2, 3, 8, 8)),
    "parametrized": (
        lambda: nn.Sequential(
            parametrizations.spectral_norm(nn.Linear(4, 4)), parametrizations.orthogonal(nn.Linear(4, 4))
        ),
        lambda: torch.rand(2, 4),
    ),
    "weight norm by hooks": (old_weight_norm, lambda: torch.rand(2, 4)),
    "moody": (Moody, lambda: torch.rand(2, 4)),
    "gradient inside": (Penalty, lambda: torch.rand(2, 4)),
    "bound methods": (Bound, lambda: torch.rand(2, 4)),
    "closure": (closure_model, lambda: torch.rand(3, 4)),
    "scripted": (scripted, lambda: torch.rand(3, 4)),
    "compiled": (compiled, lambda: torch.rand(3, 4)),
    "quantised": (quantised, lambda: torch.rand(2, 4)),
    "meta": (lambda: Convolutional().to("meta"), lambda: torch.rand(2, 3, 8, 8, device="meta")),
    "lazy": (lazy, lambda: torch.rand(2, 3, 8, 8)),
    "bfloat16": (lambda: nn.Linear(4, 3).bfloat16(), lambda: torch.rand(2, 4).bfloat16()),
    "raising": (lambda: nn.Sequential(nn.BatchNorm1d(4), nn.Linear(3, 3)), lambda: torch.rand(2, 4)),
}


def bits(tensor):
    if tensor is None or torch.nn.parameter.is_lazy(tensor) or tensor.is_meta:
        return None
    return tensor.detach().contiguous().clone().flatten().view(torch.uint8).tolist() if tensor.numel() else []


HOOKS = [name for name in vars(nn.Module()) if "hook" in name]
GLOBAL_HOOKS = [name for name in vars(nn.modules.module) if name.startswith("_global") and "hook" in name]


def plain(value, depth=3):
    """What an attribute is, by identity and content."""
    if isinstance(value, torch.Tensor):
        return (id(value), bits(value))
    if isinstance(value, torch.Generator):
        return bits(value.get_state())
    if isinstance(value, SimpleNamespace):
        return (id(value), plain(vars(value)))
    if isinstance(value, (list, tuple, set)) and depth:
        return (id(value), [plain(each, depth - 1) for each in value])
    if isinstance(value, dict) and depth:
        return (id(value), [(key, plain(each, depth - 1)) for key, each in value.items()])
    return id(value)


def numpy_stream():
    state = np.random.get_state()  # noqa: NPY002 - the global one
    return state[1].tolist(), state[2]


def picture(model, *others):
    """All of a model and of torch that must be the same afterwards."""
    modules = {}
    for name, module in model.named_modules():
        modules[name] = {
            "class": type(module),
            "training": module.training,
            "hooks": [(each, list(getattr(module, each, None) or ())) for each in HOOKS],
            "attributes": None if isinstance(module, torch.jit.ScriptModule) else plain(vars(module)),
        }
    tensors = [*model.named_parameters(), *model.named_buffers()]
    tensors += [(f"input {index}", each) for index, each in enumerate(others) if isinstance(each, torch.Tensor)]
    return {
        "modules": modules,
        "tensors": [
            (name, id(each), each.requires_grad, each._version, bits(each), bits(each.grad), each._backward_hooks)
            for name, each in tensors
        ],
        "streams": (
            random.getstate(),
            *numpy_stream(),
            bits(torch.get_rng_state()),
        ),
        "modes": (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.get_default_dtype(),
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.backends.mha.get_fastpath_enabled(),
            torch._C._len_torch_dispatch_stack(),
            torch._C._autograd._saved_tensors_hooks_is_enabled(),
        ),
        "global hooks": [len(getattr(nn.modules.module, each) or ()) for each in GLOBAL_HOOKS],
    }


@pytest.fixture(params=ZOO, ids=lambda name: name.replace(" ", "-"))
def kept(request):
    """A model of the zoo and its input."""
    torch.manual_seed(0)
    make, make_input = ZOO[request.param]
    return make(), make_input()


@pytest.fixture(scope="session")
def take_picture():
    """Picture a model."""
    return picture


@pytest.fixture
def residual():
    """A class of small residual blocks."""
    return Residual


@pytest.fixture
def convolutional():
    """A small network with batch norm and dropout."""
    torch.manual_seed(0)
    return Convolutional()
