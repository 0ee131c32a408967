"""This file is what is told of evaluations that are over: a record of each, and what its losses are called."""

import weakref
from collections.abc import Container
from typing import Any

from torchmagic.probes.cast import Cast
from torchmagic.probes.evaluation_pass import EvaluationPass, Key
from torchmagic.probes.members import Model
from torchmagic.probes.sites import Site, place_of
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.session.recorder import Recorder

# Passes of one kind that are told one by one; the series go on.
MOST_RECORDS = 16


class EvaluationRecords:
    """Tells of the passes of one run.

    Args:
        cast: Tells which parameters are trained.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._subjects: dict[tuple[str, str], list[Site | None]] = {}
        self._told: dict[Key, int] = {}
        self._given: dict[Key, weakref.ref[Any] | None] = {}

    def subject(self, name: str, key: Key, site: Site | None) -> str:
        """Return the criterion and what it was computed on, numbered where several lines compute it on the same."""
        base = f"{name}({key.loader or key.model})"
        sites = self._subjects.setdefault((name, key.loader or key.model), [])
        if site not in sites:
            sites.append(site)
        number = sites.index(site) + 1
        return base if number == 1 else f"{base}#{number}"

    def tell(
        self,
        recorder: Recorder,
        done: EvaluationPass,
        model: Model | None,
        *,
        subjects: tuple[str, ...],
        trained_through: Container[Site],
        trained_on: bool,
    ) -> None:
        """Record a pass that is over, and what may be wrong with it.

        Args:
            recorder: Takes the record.
            done: The pass.
            model: What was evaluated, while it is there.
            subjects: Of its losses.
            trained_through: Lines that lead to forwards that are trained.
            trained_on: Whether its dataset is trained on.
        """
        told = self._told[done.key] = self._told.get(done.key, 0) + 1
        again = done.is_given_again(self._given.get(done.key))
        self._given[done.key] = done.given
        if told > MOST_RECORDS:
            return
        root = model.ref() if model is not None else None
        if done.looks_like_training and root is not None and model is not None:
            done.look_at(root, model)
        parameters = model.parameters if model is not None else {}
        graph = any((value := ref()) is not None and value.requires_grad for ref in parameters.values())
        recorder.add(
            EvaluationRecord(
                model=done.key.model,
                step=recorder.step,
                loader=done.key.loader,
                num_batches=done.forwards,
                num_losses=done.losses,
                training=done.key.training,
                grad_enabled=done.key.grad_enabled,
                recorded_graph=done.key.grad_enabled and graph and not done.differentiates_input,
                awake=done.awake,
                loss_names=subjects,
                also_trained=any(parameters.keys() & set(each.names) for each in self._cast.optimizers),
                trained_on=trained_on,
                place=place_of(done.own_line(trained_through)),
                norms=done.norms,
                same_input=again,
                alone=done.alone,
            )
        )
