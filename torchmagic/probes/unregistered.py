"""This file is what nobody registered: tensors that an attribute holds, and modules that forwards make anew."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from torchmagic.analyses.scopes import Scope
from torchmagic.probes.cut_places import place_defined, place_given
from torchmagic.probes.sites import Site, place_of
from torchmagic.records.connection import MadeInForwardRecord, UnregisteredRecord


@dataclass(slots=True, kw_only=True)
class Stray:
    """Tensors that one attribute of a module holds unregistered."""

    module: str
    attribute: str
    variable: str
    container: str
    class_name: str
    owner: type
    refs: dict[int, weakref.ref[torch.Tensor]] = field(default_factory=dict)
    lengths: dict[int, float] = field(default_factory=dict)
    looks: int = 0
    owned: int = 0
    registered: int = 0
    changed: bool = False

    def record(self, scopes: Sequence[Scope]) -> UnregisteredRecord:
        """Return what is known as a record, with the line that the user's code shows."""
        classes = [each.__name__ for each in self.owner.__mro__]
        place = place_given(scopes, classes, self.attribute) if self.attribute else None
        return UnregisteredRecord(
            module=self.module,
            attribute=self.attribute,
            variable=self.variable,
            container=self.container,
            class_name=self.class_name,
            num_parameters=len(self.refs),
            owned=self.owned,
            registered=self.registered,
            changed=self.changed,
            looks=self.looks,
            place=place or (place_defined(scopes, self.variable) if self.variable else None),
        )


@dataclass(slots=True, kw_only=True)
class Making:
    """Modules of one line that forwards make again and again."""

    model: str
    class_name: str
    site: Site
    step: int
    num_calls: int = 0
    reached: bool = False

    def record(self) -> MadeInForwardRecord:
        """Return what is known as a record."""
        return MadeInForwardRecord(
            model=self.model,
            class_name=self.class_name,
            num_calls=self.num_calls,
            step=self.step,
            place=place_of(self.site),
        )
