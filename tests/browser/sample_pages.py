"""This file is pages made by hand, as a bad training run would fill them."""

import math
import random

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.page import Bars, Diff, Facts, Findings, Fold, Line, Page, Plot, Shares, Table, Text, Trend

LAYERS = ("stem.conv", "stem.norm", "blocks.0.conv", "blocks.0.norm", "blocks.1.conv", "blocks.1.norm", "head")


def pages(num_steps=120):
    """Return the panel's tabs by name."""
    return {
        "Findings": Page(title="Findings", blocks=[Findings(findings=findings())]),
        "Curves": curves(num_steps),
        "Parameters": parameters(num_steps),
        "Activations": activations(num_steps),
        "Memory & time": memory_and_time(),
    }


def findings():
    return [
        Finding(
            rule="exploding-gradients",
            severity=Severity.ERROR,
            confidence=0.96,
            title="Gradients of blocks.1.conv grow without bound: norm 4.1e5 at step 88, 1,900 times the median",
            module="model.blocks.1.conv",
            parameter="blocks.1.conv.weight",
            line=14,
            source="    loss.backward()",
            step=88,
            evidence={"grad_norm": 412_307.5, "median_norm": 217.0, "ratio": 1900.0, "threshold": 100.0},
            why="The learning rate of 0.5 is above what `SGD` with momentum 0.9 stands for this loss; "
            "each step overshoots further than the last.",
            fix="Lower the rate, or clip the gradients between `backward()` and `step()`:\n"
            "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)",
        ),
        Finding(
            rule="non-finite-loss",
            severity=Severity.ERROR,
            confidence=1.0,
            title="The loss is NaN from step 97 on",
            line=13,
            source="    loss = F.cross_entropy(model(x), y)",
            step=97,
            evidence={"loss": math.nan, "last_finite": 8.31e4},
            why="The weights left the range of float32.",
            fix="Cure the exploding gradients above first.",
            causes=("exploding-gradients",),
        ),
        Finding(
            rule="loss-before-log",
            severity=Severity.WARNING,
            confidence=0.8,
            title="`head` ends in Softmax, and cross_entropy applies log-softmax again",
            module="model.head",
            line=13,
            source="    loss = F.cross_entropy(model(x), y)",
            evidence={"row_sum": 1.0, "tolerance": 1e-4},
            why="`cross_entropy` expects raw scores; with probabilities its gradient is nearly flat.",
            fix="Return the scores: remove `nn.Softmax(dim=1)` from the model.",
        ),
        Finding(
            rule="slow-input",
            severity=Severity.INFO,
            confidence=0.9,
            title="The data loader takes 38% of each step",
            line=10,
            source="for x, y in loader:",
            evidence={"share": 0.38, "threshold": 0.3},
            why="Samples are decoded in the training process.",
            fix="Let workers do it:\nloader = DataLoader(data, batch_size=64, num_workers=2, persistent_workers=True)",
        ),
        Finding(
            rule="dead-relu",
            severity=Severity.WARNING,
            confidence=0.35,
            title="12% of the units of stem.relu were silent in all steps",
            module="model.stem.relu",
            evidence={"dead_share": 0.12, "threshold": 0.1},
            why="Their inputs are always negative.",
            fix="Try `nn.LeakyReLU`.",
        ),
    ]


def curves(num_steps):
    chance = random.Random(0)  # noqa: S311 - noise for a picture
    steps = [float(step) for step in range(num_steps)]
    loss = [2.3 * math.exp(-s / 40) + 0.15 * chance.random() + (math.exp((s - 80) / 4) if s > 80 else 0) for s in steps]
    loss[97:] = [math.nan] * len(loss[97:])
    calm = [2.35 * math.exp(-s / 45) + 0.1 + 0.05 * chance.random() for s in steps]
    norm = [3 + chance.random() + (math.exp((s - 80) / 2.2) if s > 80 else 0) for s in steps[:97]]
    rate = [0.5 * min(1.0, (s + 1) / 20) for s in steps]
    blocks = [
        Plot(
            title="Loss",
            lines=[
                Line(name="train", steps=steps, values=loss),
                Line(name="validation", steps=steps[::20], values=calm[::20]),
            ],
        ),
        Plot(title="Gradient norm", lines=[Line(name="total", steps=steps[:97], values=norm)], log=True),
        Plot(title="Learning rate", lines=[Line(name="SGD", steps=steps, values=rate)]),
        Bars(title="Gradient values, head.weight", edges=[x / 10 for x in range(-10, 11)], counts=_bell(20)),
    ]
    return Page(title="Curves", blocks=blocks)


def _bell(num):
    return [round(4000 * math.exp(-(((i - num / 2 + 0.5) / 3.2) ** 2))) for i in range(num)]


def parameters(num_steps):
    rows = []
    for index, layer in enumerate(LAYERS):
        for kind, count in (("weight", 64 * 4**index), ("bias", 64)):
            norm = 3.1 / (index + 1) + (0.7 if kind == "bias" else 0)
            gradient = math.nan if layer == "blocks.1.conv" else 10.0 ** (-index) * norm
            shape = f"({count // 9}, 9)" if kind == "weight" else "(64,)"
            rows.append([f"{layer}.{kind}", shape, count, norm, gradient, gradient / norm / 10, None])
    columns = ["parameter", "shape", "count", "norm", "gradient norm", "update ratio", "frozen since"]
    facts = Facts(rows=[("parameters", "1.864 M, all trained"), ("optimizer", f"SGD, {num_steps} steps")])
    table = Table(columns=columns, rows=rows, marked=frozenset({8, 9}))
    return Page(title="Parameters", blocks=[facts, table])


def activations(num_steps):
    course = [1.0 + math.exp((step - 80) / 4) for step in range(0, num_steps, 10)]
    rows = [[layer, "Conv2d", 0.1 * index, Trend(values=course, log=True)] for index, layer in enumerate(LAYERS)]
    shapes = Table(columns=["module", "gives"], rows=[[layer, "32×64×8×8 float32"] for layer in LAYERS])
    steps = [float(step) for step in range(num_steps)]
    parts = Plot(
        title="Memory of the model, MiB",
        lines=[
            Line(name=name, steps=steps, values=[size] * num_steps)
            for name, size in (("weights", 7.4), ("graph", 41.0))
        ],
        stacked=True,
    )
    fold = Fold(title="What each module gives", blocks=[shapes, parts])
    change = [(" ", "x = 1"), ("-", "lr = 0.5"), ("+", "lr = 0.05  # <b>less</b>")]
    source = Fold(title="What changed in the source", blocks=[Diff(title="Source", old="a", new="b", lines=change)])
    table = Table(columns=["module", "class", "mean", "std over steps"], rows=rows)
    return Page(title="Activations", blocks=[table, fold, source])


def memory_and_time():
    time = Shares(
        title="Where a step's time goes",
        parts=[
            ("data", 0.0412),
            ("forward", 0.0218),
            ("backward", 0.0381),
            ("optimizer", 0.0051),
            ("torchmagic", 0.0011),
        ],
    )
    memory = Shares(
        title="What memory holds",
        unit="B",
        parts=[("weights", 7.4e6), ("gradients", 7.4e6), ("optimizer state", 7.4e6), ("activations", 41.2e6)],
    )
    summary = Text(text="A step takes 107 ms; 38% of it waits for data.", strong=True)
    return Page(title="Memory & time", blocks=[summary, time, memory])
