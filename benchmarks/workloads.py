"""This file is the workloads of the benchmarks: small trainings, written as people write them."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn import functional

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Training:
    """A training that was built: what there is of it, and the function that does one step."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: Step

    def __call__(self, index: int) -> None:
        """Do one step."""
        self.step(index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One training to be timed.

    Args:
        name: Short name, for tables.
        about: What it is, in a few words.
        make: Builds model, optimizer and batches from a fixed seed.
        num_steps: Steps in one timed block: about half a second's worth, and so many that what is done on some steps
            only falls into each block about equally often.
        compiled: Whether the model runs under ``torch.compile``, which needs a C++ compiler.
    """

    name: str
    about: str
    make: Callable[[], Training]
    num_steps: int
    compiled: bool = False


def tiny_mlp() -> Training:
    """The digits classifier of a first tutorial."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = [(torch.rand(64, 64), torch.randint(10, (64,))) for _ in range(28)]
    criterion = nn.CrossEntropyLoss()

    def step(index: int) -> None:
        x, y = batches[index % len(batches)]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

    return Training(model, optimizer, step)


class Residual(nn.Module):
    """Two convolutions and a way round them."""

    def __init__(self, num_in: int, num_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(num_in, num_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(num_out)
        self.conv2 = nn.Conv2d(num_out, num_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(num_out)
        self.relu = nn.ReLU(inplace=True)
        same = stride == 1 and num_in == num_out
        self.short = nn.Identity() if same else nn.Conv2d(num_in, num_out, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.norm1(self.conv1(x)))
        return self.relu(self.norm2(self.conv2(y)) + self.short(x))


def resnet(*, compiled: bool = False, width: int = 8, batch: int = 32, side: int = 32) -> Training:
    """A ResNet-18, of an eighth of the width unless told otherwise, on square images."""
    torch.manual_seed(0)
    widths = (width, 2 * width, 4 * width, 8 * width)
    blocks: list[nn.Module] = [nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    for before, width in zip((widths[0], *widths), widths, strict=False):
        blocks += [Residual(before, width, 1 if before == width else 2), Residual(width, width, 1)]
    model = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 10))
    runs = torch.compile(model) if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    batches = [(torch.randn(batch, 3, side, side), torch.randint(10, (batch,))) for _ in range(8)]
    criterion = nn.CrossEntropyLoss()

    def step(index: int) -> None:
        x, y = batches[index % len(batches)]
        optimizer.zero_grad()
        loss = criterion(runs(x), y)
        loss.backward()
        optimizer.step()

    return Training(model, optimizer, step)


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """One layer of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """A language model of four layers."""

    def __init__(
        self, vocabulary: int = 512, width: int = 128, layers: int = 4, heads: int = 4, length: int = 64
    ) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(x)))


def small_gpt(*, compiled: bool = False) -> Training:
    """A small GPT with gradient clipping."""
    torch.manual_seed(0)
    return language_model(GPT(), 8, compiled=compiled)


def large_gpt() -> Training:
    """A GPT of the size of GPT-2, in bfloat16."""
    torch.manual_seed(0)
    return language_model(GPT(vocabulary=50304, width=768, layers=12, heads=12, length=512), 8, half=True)


def language_model(model: GPT, batch: int, *, compiled: bool = False, half: bool = False) -> Training:
    """The training of a GPT on random tokens."""
    runs = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    vocabulary, length = model.token.num_embeddings, model.position.num_embeddings
    batches = [torch.randint(vocabulary, (batch, length + 1)) for _ in range(8)]
    around = partial(torch.autocast, model.head.weight.device.type, torch.bfloat16) if half else nullcontext

    def step(index: int) -> None:
        tokens = batches[index % len(batches)]
        optimizer.zero_grad()
        with around():
            logits = runs(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return Training(model, optimizer, step)


class Many(nn.Module):
    """A hundred small layers: two hundred small parameters."""

    def __init__(self, layers: int = 100, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + 0.1 * torch.tanh(layer(x))
        return x


def many_parameters() -> Training:
    """The worst case of whatever costs something for each parameter."""
    torch.manual_seed(0)
    model = Many()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = [(torch.randn(64, 32), torch.randn(64, 32)) for _ in range(16)]
    criterion = nn.MSELoss()

    def step(index: int) -> None:
        x, y = batches[index % len(batches)]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

    return Training(model, optimizer, step)


WORKLOADS = (
    Workload(name="tiny MLP", about="6 parameters, batch 64", make=tiny_mlp, num_steps=400),
    Workload(name="ResNet-like CNN", about="ResNet-18 at 1/8 width, batch 32", make=resnet, num_steps=20),
    Workload(name="small GPT", about="4 layers of 128, 8 x 64 tokens", make=small_gpt, num_steps=20),
    Workload(name="200 parameters", about="100 linear layers of 32, batch 64", make=many_parameters, num_steps=50),
)
COMPILED = (
    Workload(
        name="CNN, compiled",
        about="the ResNet-like CNN under torch.compile",
        make=partial(resnet, compiled=True),
        num_steps=20,
        compiled=True,
    ),
    Workload(
        name="GPT, compiled",
        about="the small GPT under torch.compile",
        make=partial(small_gpt, compiled=True),
        num_steps=20,
        compiled=True,
    ),
)
# What keeps an accelerator busy; a step of these takes a host seconds.
LARGE = (
    Workload(
        name="ResNet-18",
        about="ResNet-18 at full width, 128 images of 64 by 64",
        make=partial(resnet, width=64, batch=128, side=64),
        num_steps=20,
    ),
    Workload(name="GPT-2, bfloat16", about="12 layers of 768, 8 x 512 tokens, autocast", make=large_gpt, num_steps=10),
)
