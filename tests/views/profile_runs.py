"""This file is profiles made by hand, as a perceptron, a convolutional network and a transformer give them."""

import math
from dataclasses import replace

from torchmagic.records.costs import AllocationsRecord, CostsRecord, LineCost, LoaderCost, ModuleCost, OperatorCost
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.session.run import Run, Status

CELL = "<ipython-input-7-c0ffee>"
MS, MIB, STEPS, FIRST = 1e-3, 2**20, 20, 2
PHASES = ("data", "transfer", "forward", "backward", "optimizer", "idle", "other")
# small differences between steps, the same in each run of the tests
JITTER = (0.0, 0.02, -0.01, 0.03, -0.02, 0.01, 0.0, -0.03, 0.02, -0.01)


def phases(usual, *, steps=STEPS, slow=()):
    """Make phases from what each usually takes in milliseconds; ``slow`` adds (step, phase, milliseconds)."""
    columns = {
        name: [usual.get(name, 0.0) * MS * (1 + JITTER[(i + len(name)) % len(JITTER)]) for i in range(steps)]
        for name in PHASES
    }
    for step, phase, more in slow:
        columns[phase][step - FIRST] += more * MS
    return PhasesRecord(steps=tuple(range(FIRST, FIRST + steps)), **{key: tuple(each) for key, each in columns.items()})


def place(text, number, *, file=CELL, function="<module>"):
    return Place(file=file, line=number, source=text.splitlines()[number - 1].strip(), function=function)


def line(where, own, *, steps=STEPS, total=None, calls=1, operators=0.0, backward=0.0, **facts):
    """Make the cost of a line from milliseconds and calls of a step."""
    per = steps * MS
    return LineCost(
        place=where, calls=round(calls * steps), own=own * per, total=(total or own) * per, operators=operators * per,
        backward=backward * per, **facts,
    )  # fmt: skip


def charged(lines):
    """Return lines of which the one that calls the backward has that of the others on others' account."""
    others = sum(each.backward for each in lines)
    return tuple(
        replace(each, elsewhere=min(each.own, others)) if "backward()" in each.place.source else each for each in lines
    )


def module(path, class_name, own, *, steps=STEPS, model="net", total=None, calls=1, backward=(0.0, 0.0), **facts):
    """Make the cost of a module from milliseconds of a step: forward (own, total), backward (own, total)."""
    per = steps * MS
    return ModuleCost(
        model=model, path=path, class_name=class_name, calls=round(calls * steps), forward=(total or own) * per,
        forward_own=own * per, backward=backward[1] * per, backward_own=backward[0] * per, **facts,
    )  # fmt: skip


def operator(name, phase, own, *, steps=STEPS, total=None, calls=1, **facts):
    """Make the cost of an operator from milliseconds and calls of a step."""
    per = steps * MS
    return OperatorCost(
        name=name, phase=phase, calls=round(calls * steps), own=own * per, total=(total or own) * per, **facts
    )


def profiled(phase_record, costs, *more, steps=STEPS, name="", busy=0.9, processor=0.99, **facts):
    """Return a run of these records, its window as long as its phases."""
    seconds = sum(sum(getattr(phase_record, phase)) for phase in PHASES)
    known = {
        "first_step": FIRST, "steps": steps, "waited": 0, "warmed": 2, "seconds": seconds, "busy": busy * seconds,
        "processor": processor * seconds, "events": 4210 * steps, "threads": 2, "cores": 2, "reading": 0.31,
    }  # fmt: skip
    run = Run(name=name)
    run.records += [ProfileRecord(**{**known, **facts}), phase_record, costs, *more]
    run.steps, run.status = steps + FIRST, Status.OK
    run.clock.seconds, run.clock.cost = seconds * 1.4, 0.02 * seconds
    return run


MLP = """\
net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(Digits(), batch_size=64, shuffle=True)

losses = []
for x, y in loader:
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    losses.append(loss.item())
"""


def mlp_run(*, steps=STEPS, data=25.0, slow=((9, "data", 60.0),), name=""):
    """A perceptron that waits for its data: one process loads and trains."""
    usual = {"data": data, "forward": 2.2, "backward": 3.1, "optimizer": 1.4, "other": 0.5, "idle": 0.1}
    times = phases(usual, steps=steps, slow=slow)
    waited = sum(times.data) / MS / steps
    where = {number: place(MLP, number) for number in range(6, 12)}
    lines = (
        line(where[6], waited, steps=steps, operators=1.9),
        line(where[7], 0.2, steps=steps, operators=0.05),
        line(where[8], 2.3, steps=steps, operators=2.1, backward=2.8),
        line(where[9], 3.1, steps=steps, operators=2.9),
        line(where[10], 1.2, steps=steps, operators=0.9),
        line(where[11], 0.04, steps=steps, operators=0.01, reads=steps),
    )
    modules = (
        module("", "Sequential", 0.1, steps=steps, total=2.0, backward=(0.0, 2.7)),
        module("0", "Linear", 1.5, steps=steps, backward=(2.1, 2.1), dtype="float32"),
        module("1", "ReLU", 0.15, steps=steps, backward=(0.2, 0.2)),
        module("2", "Linear", 0.25, steps=steps, backward=(0.4, 0.4), dtype="float32"),
    )
    operators = (
        operator("aten::stack", "data", 1.6, steps=steps, total=1.9, calls=2, place=where[6]),
        operator("aten::addmm", "forward", 1.6, steps=steps, calls=2, module="net.0", place=where[8]),
        operator("aten::mm", "backward", 2.2, steps=steps, calls=3, module="net.0", place=where[8]),
        operator("aten::_foreach_add_", "optimizer", 0.7, steps=steps, total=0.8, place=where[10]),
    )
    waits, total = times.data, sum(times.data)
    loader = LoaderCost(loader="loader", workers=0, batches=steps, waits=waits, total=total, place=where[6])
    costs = CostsRecord(modules=modules, lines=charged(lines), operators=operators, loaders=(loader,))
    sources = SourcesRecord(texts={CELL: MLP}, names={CELL: "this cell"})
    known = LoaderRecord(
        name="loader", batch_size=64, num_workers=0, sampler="RandomSampler", num_batches=938, dataset="Digits",
        num_samples=60_000,
    )  # fmt: skip
    return profiled(times, costs, sources, known, steps=steps, busy=0.31, processor=0.7, name=name)


GPT_FILE = "/home/ada/nano/model.py"
GPT_FUNCTIONS = """\
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))
"""
GPT_TEXT = "import torch\nfrom torch import nn\n" + "\n# what is not called here\n" * 60 + "\n" + GPT_FUNCTIONS
GPT_FORWARD = len(GPT_TEXT.splitlines()) - 1
GPT_CELL = """\
model = GPT(GPTConfig(n_layer=12, n_embd=384))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

for step in range(40):
    x, y = batch("train")
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0:
        print(f"{step}: {loss.item():.3f}")
"""


def gpt_run(*, block=6.0, dear=None, name="", layers=12, options=("memory", "flops")):
    """A transformer of alike blocks; ``dear`` is the number of one that takes three times what they do."""
    factors = [3.0 if index == dear else 1.0 for index in range(layers)]
    forward = 9.0 + block * sum(factors)
    times = phases({"data": 1.1, "forward": forward, "backward": 2 * forward, "optimizer": 14.0, "other": 0.8})
    modules = [
        gpt_module("", "GPT", 0.5, total=forward, flops=2_900_000_000, allocated=420 * MIB, kept=310 * MIB),
        gpt_module("wte", "Embedding", 0.6, allocated=12 * MIB, kept=12 * MIB),
    ]
    for index, factor in enumerate(factors):
        modules += gpt_block(index, block * factor)
    modules.append(gpt_module("lm_head", "Linear", 7.4, flops=620_000_000, allocated=98 * MIB, kept=98 * MIB))
    where = {number: place(GPT_CELL, number) for number in range(4, 13)}
    inner = {
        number: place(GPT_TEXT, number, file=GPT_FILE, function="forward") for number in (GPT_FORWARD, GPT_FORWARD + 1)
    }
    blocks = block * sum(factors)
    lines = (
        line(where[5], 1.1, operators=0.4),
        line(where[6], 9.0, total=forward, operators=8.7, backward=18.0, allocated=20 * 420 * MIB),
        line(where[7], 0.1, operators=0.02),
        line(where[8], 2 * forward, operators=2 * forward - 1),
        line(where[9], 2.5, operators=2.2),
        line(where[10], 11.5, operators=11.0),
        line(where[11], 0.001, operators=0.0, complete=False),
        line(where[12], 0.02, calls=0.1, reads=2),
        line(inner[GPT_FORWARD], 0.55 * blocks, calls=layers, operators=0.5 * blocks, backward=1.1 * blocks),
        line(inner[GPT_FORWARD + 1], 0.45 * blocks, calls=layers, operators=0.44 * blocks, backward=0.9 * blocks),
    )
    operators = [
        operator("aten::mm", "backward", 1.1 * forward, calls=147, module="model.lm_head", place=where[6],
                 shapes="[4096, 384] [384, 1536]", dtype="float32", flops=20 * 3_100_000_000, allocated=20 * 90 * MIB),
        operator("aten::addmm", "forward", 0.5 * forward, calls=48, module="model.h.3.mlp.c_fc", place=where[6],
                 shapes="[1536] [4096, 384] [384, 1536]", dtype="float32", flops=20 * 2_100_000_000),
        operator("aten::_scaled_dot_product_flash_attention_for_cpu", "forward", 0.2 * forward, calls=12,
                 module="model.h.0.attn", place=inner[GPT_FORWARD]),
    ]  # fmt: skip
    operators += [operator(f"aten::op_{i}", "forward", 3.0 / (i + 1), calls=i + 1) for i in range(46)]
    costs = CostsRecord(modules=tuple(modules), lines=charged(lines), operators=tuple(operators))
    sources = SourcesRecord(texts={CELL: GPT_CELL, GPT_FILE: GPT_TEXT}, names={CELL: "this cell", GPT_FILE: "model.py"})
    return profiled(
        times, costs, sources, allocations(where[8]), name=name, options=options, busy=0.97, flops=20 * 8_700_000_000,
        peak_flops=120e9, peak_bytes=913 * MIB, uncounted=("aten::_scaled_dot_product_flash_attention_for_cpu",),
        notes=("What runs inside torch.compile is one line.",),
    )  # fmt: skip


def gpt_module(path, class_name, own, *, total=None, **facts):
    """Make a module whose backward takes twice its forward."""
    return module(path, class_name, own, model="model", total=total, backward=(2 * own, 2 * (total or own)), **facts)


def gpt_block(index, block):
    parts = (
        ("ln_1", "LayerNorm", 0.04, None), ("attn", "Attention", 0.3, 0.42), ("attn.c_attn", "Linear", 0.08, None),
        ("attn.c_proj", "Linear", 0.04, None), ("ln_2", "LayerNorm", 0.04, None), ("mlp", "MLP", 0.01, 0.48),
        ("mlp.c_fc", "Linear", 0.22, None), ("mlp.gelu", "GELU", 0.07, None), ("mlp.c_proj", "Linear", 0.18, None),
    )  # fmt: skip
    path = f"h.{index}"
    yield gpt_module(path, "Block", 0.02 * block, total=block, allocated=20 * 24 * MIB, kept=20 * 18 * MIB)
    for name, class_name, own, total in parts:
        yield gpt_module(f"{path}.{name}", class_name, own * block, total=total and total * block)


def allocations(where):
    seconds = tuple(i * 0.01 for i in range(200))
    waves = [0.5 - 0.5 * math.cos(i * math.pi / 10) for i in range(200)]
    held = {
        "before": tuple(180 * MIB for _ in waves),
        "forward": tuple(round(420 * MIB * each) for each in waves),
        "backward": tuple(round(200 * MIB * each**4) for each in waves),
        "optimizer": tuple(113 * MIB if i > 20 else 0 for i in range(200)),
    }
    holders = (
        ("forward of model.h", 216 * MIB),
        ("before the window", 180 * MIB),
        ("forward of model.lm_head", 98 * MIB),
    )
    return AllocationsRecord(
        seconds=seconds, phases=held, peak=0.3, step=4, phase="backward", module="model.lm_head", place=where,
        holders=holders,
    )  # fmt: skip


def cnn_run(*, cut="", steps=0):
    """Predictions of a convolutional network in a cell that makes no optimizer step."""
    text = "with torch.no_grad():\n    for images, _ in loader:\n        seen.append(net(images).argmax(1))\n"
    times = PhasesRecord(
        steps=(0,), data=(0.21,), transfer=(0.0,), forward=(1.4,), backward=(0.0,), optimizer=(0.0,), idle=(0.02,),
        other=(0.05,),
    )  # fmt: skip
    modules = (
        module("features.0", "Conv2d", 900.0, steps=1, calls=32, dtype="float32"),
        module("features.1", "ReLU", 90.0, steps=1, calls=32),
        module("classifier", "Linear", 60.0, steps=1, calls=32, dtype="float32"),
    )
    lines = (
        line(place(text, 2), 215.0, steps=1, calls=33, operators=20.0),
        line(place(text, 3), 1430.0, steps=1, calls=32, operators=1350.0),
    )
    workers = LoaderCost(
        loader="loader", workers=2, batches=32, waits=tuple(6.5 * MS for _ in range(32)), total=0.208, busy=0.84,
        place=place(text, 2),
    )  # fmt: skip
    conv = operator("aten::mkldnn_convolution", "forward", 880.0, steps=1, calls=32, module="net.features.0")
    costs = CostsRecord(modules=modules, lines=lines, operators=(conv,), loaders=(workers,))
    return profiled(times, costs, steps=steps, first_step=0, warmed=0, busy=0.88, cut=cut)
