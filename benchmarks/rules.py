"""This file is the price of judgement: seconds that all rules take on a run of 10,000 steps and 300 parameters.

``python benchmarks/rules.py`` prints the whole and the dearest rules; it needs no torch.
"""

import argparse
import math
from time import process_time

from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.model import ModelRecord, OptimizerRecord, ParameterRecord, RectifierRecord
from torchmagic.records.place import Place
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.judgement import judge
from torchmagic.session.run import Run

PER_PARAMETER = (
    "grad_norm", "grad_rms", "grad_max", "grad_mean", "grad_std", "grad_zero_share", "weight_norm", "update_ratio",
)  # fmt: skip
PER_MODULE = ("dead_share", "activation_mean", "activation_std", "activation_max", "saturated_share")
SOURCE = "\n".join(f"line_{i} = model(x)" for i in range(60))


def long_run(steps: int, parameters: int) -> Run:
    """Return a run as a watch of a long healthy training would have left it."""
    run = Run(source=SOURCE)
    place = Place(file="cell", line=7, source="loss.backward()")
    names = tuple(f"net.{i // 2}.{'bias' if i % 2 else 'weight'}" for i in range(parameters))
    modules = tuple(f"net.{i}" for i in range(parameters // 2))
    run.records += [
        ModelRecord(name="net", class_name="Net", num_parameters=10**7, num_trainable=10**7, num_bytes=4 * 10**7)
    ]
    run.records += [
        ParameterRecord(
            name=name,
            model="net",
            module=name.rpartition(".")[0],
            shape=(64, 64),
            dtype="float32",
            device="cpu",
            trainable=True,
        )
        for name in names
    ]
    run.records += [OptimizerRecord(name="optimizer", class_name="AdamW", lr=(1e-3,), parameters=names, place=place)]
    run.records += [
        LossRecord(name="cross_entropy", input_shape=(64, 10), target_shape=(64,), reduction="mean", place=place)
    ]
    run.records += [BackwardRecord(name="loss", place=place)]
    run.records += [RectifierRecord(module=module, place=None) for module in modules]
    for step in range(steps):
        run.steps = step
        wobble = 1.0 + 0.2 * math.sin(step * 1.7)
        run.frame("loss", ("loss",)).append(step, (2.3 * math.exp(-step / 4000) * wobble,))
        run.frame("grad_norm", ("",)).append(step, (wobble,))
        run.frame("lr", ("optimizer[0]",)).append(step, (1e-3,))
        if step % 4 == 0:
            for metric in PER_PARAMETER:
                run.frame(metric, names).append(step, [1e-3 * wobble] * parameters)
            for metric in PER_MODULE:
                run.frame(metric, modules).append(step, [0.1 * wobble] * len(modules))
    run.steps = steps
    return run


def dearest(run: Run) -> list[tuple[float, str]]:
    """Return the seconds of each rule, the dearest first."""
    found = []
    for rule in RULES:
        began = process_time()
        list(rule(run))
        found.append((process_time() - began, rule.id))
    return sorted(found, reverse=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--parameters", type=int, default=300)
    chosen = parser.parse_args()
    run = long_run(chosen.steps, chosen.parameters)
    seconds = []
    for _ in range(3):
        began = process_time()
        found = judge(run, lambda rule, error: print(f"{rule} raised {error!r}"))
        seconds.append(process_time() - began)
    print(f"{len(RULES)} rules, {chosen.steps} steps, {chosen.parameters} parameters: {sorted(seconds)[1]:.3f} s CPU")
    print(f"findings: {[finding.rule for finding in found]}")
    for took, rule in dearest(run)[:8]:
        print(f"{1e3 * took:9.2f} ms  {rule}")


if __name__ == "__main__":
    main()
