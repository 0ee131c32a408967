"""This file is runs of one small training, made by hand: as it should be, with another rate, and with a mistake."""

import math

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord, OptimizerRecord, ParameterRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.session.run import Run, Status

NUM_STEPS = 40
SOURCE = """net = nn.Linear(64, 10)
optimizer = torch.optim.SGD(net.parameters(), lr={lr:g})
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
"""
LOST_GRADIENTS = Finding(
    rule="missing-zero-grad",
    severity=Severity.ERROR,
    confidence=0.97,
    title="optimizer steps on gradients that are never reset",
    optimizer="optimizer",
    line=6,
    source="loss.backward()",
    fix="optimizer.zero_grad()",
)


def training(
    *, number, lr=0.1, floor=0.2, scatter=0.02, findings=(), name="", steps=NUM_STEPS, scale=1.0, growth=2**20
):
    """Return a run whose loss falls from 2.3 to a floor with some scatter; nothing of it is drawn at random."""
    run = Run(name=name, source=SOURCE.format(lr=lr), run_id=f"id{number}", settings={"level": "basic", "name": name})
    run.number, run.status, run.findings, run.steps = number, Status.OK, tuple(findings), steps
    run.clock.started, run.clock.seconds, run.clock.cost = 1_700_000_000.0 + number, 2.0, 0.1
    weight = "net.weight"
    run.records += [
        EnvironmentRecord(torch="2.13.0", python="3.11.7", platform="Linux", device="cpu", num_threads=2),
        ModelRecord(name="net", class_name="Linear", num_parameters=650, num_trainable=650, num_bytes=2600),
        ParameterRecord(
            name=weight, model="net", module="net", shape=(10, 64), dtype="float32", device="cpu", trainable=True
        ),
        OptimizerRecord(name="optimizer", class_name="SGD", lr=(lr,), parameters=(weight,)),
        GroupRecord(
            optimizer="optimizer", class_name="SGD", subject="optimizer", parameters=(weight,), num_elements=640,
            lr=lr, weight_decay=0.0, decoupled=False, maximize=False, step=0, built=None,
        ),
    ]  # fmt: skip
    for step in range(steps):
        wiggle = scatter * math.sin(2.4 * step * step)
        loss = floor + (2.3 - floor) * math.exp(-step / 6) + wiggle
        run.frame("loss", ("loss",)).append(step, (loss,))
        run.frame("grad_norm", ("",)).append(step, (scale * loss / 2,))
        run.frame("grad_norm", (weight,)).append(step, (scale * loss / 2,))
        run.frame("weight_norm", (weight,)).append(step, (1 + scale * step / 100,))
        run.frame("update_ratio", (weight,)).append(step, (scale * lr / 10,))
        run.frame("rss_bytes", ("",)).append(step, (2**28 + step * growth,))
        if step % 10 == 9:
            run.frame("eval_loss", ("cross_entropy(val)",)).append(step + 1, (loss + 0.1,))
    return run


def good():
    """Return the run as it should be."""
    return training(number=4, name="baseline")


def bad():
    """Return the run whose gradients are never reset, at another rate."""
    run = training(number=5, lr=1.0, floor=1.9, scatter=0.3, findings=[LOST_GRADIENTS], scale=8.0)
    run.source = run.source.replace("    optimizer.zero_grad()\n", "")
    return run


def lost(*, free=96 * 2**20):
    """Return a run whose process died while its memory grew."""
    run = training(number=7, name="too much", findings=[LOST_GRADIENTS], steps=20, growth=2**28)
    run.status = Status.LOST
    for step in range(20 if free is not None else 0):
        run.frame("free_bytes", ("",)).append(step, (free,))
    return run
