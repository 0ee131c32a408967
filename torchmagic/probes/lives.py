"""This file watches models that are thrown away: built anew, or given their first weights again, before they learn."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils.data import RandomSampler, SequentialSampler
from torch.utils.data.dataloader import _InfiniteConstantSampler

from torchmagic.probes.cast import Cast
from torchmagic.probes.construction_lines import lines_of
from torchmagic.probes.life import Life, make_of, restart, settings_of
from torchmagic.probes.members import present
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.sites import Site
from torchmagic.probes.storages import tensors_in
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import has_shape
from torchmagic.tensors.reduce import norms

# Fewer lives are told of nowhere; more than this are not followed.
LEAST_LIVES, MOST_LIVES = 3, 64
# Modules whose construction is remembered.
MOST_BUILT = 4096
# A life of so many steps that saw no loader, and nothing twice, is followed no further.
MANY_STEPS = 1000
# Share of a model's weights that must be new for a new life to begin.
MOST_OF_IT = 0.5
# Objects that are numbered before those that are gone are forgotten, and weights that are compared.
MOST_NUMBERS, FEW = 1024, 4
# Samplers that go through a whole dataset; another may stand for a fold of it.
WHOLE = (RandomSampler, SequentialSampler, _InfiniteConstantSampler)
FOR_GOOD = 1 << 40


class _Waker:
    """Hears of what may begin a life or another pass, and wakes the probe, which rests while nothing does."""

    def __init__(self, taps: Taps, lives: "Lives") -> None:
        self._taps, self._lives = taps, lives
        self.built: dict[int, tuple[weakref.ref[nn.Module], tuple[Site, ...]]] = {}

    def attach(self) -> None:
        """Listen for passes, constructions and new weights."""
        self._taps.on("epoch", self._begins_pass)
        self._taps.on("module_built", self._built)
        self._taps.on("optimizer_built", self._optimizer_built)
        self._taps.on("weights_set", self._weights_set)
        self._taps.on("weights_may_change", self._weights_may_change)

    def _built(self, module: nn.Module, frame: FrameType) -> None:
        if len(self.built) >= MOST_BUILT:
            self.built.pop(next(iter(self.built)))
        self.built[id(module)] = (weakref.ref(module), lines_of(module, frame))

    def _begins_pass(self, loader: Any, iterator: Any, nanoseconds: int, frame: FrameType) -> None:
        if self._lives.counts_unseen:
            self._taps.listeners.wake_up(self._lives)
        self._lives.begins_pass(loader)

    def _optimizer_built(self, optimizer: Any, frame: FrameType) -> None:
        self._taps.listeners.wake_up(self._lives)

    def _weights_set(self, what: Any, frame: FrameType) -> None:
        self._taps.listeners.wake_up(self._lives)
        self._lives.weights_set(what, frame)

    def _weights_may_change(self, module: nn.Module, frame: FrameType | None) -> None:
        self._taps.listeners.wake_up(self._lives)
        self._lives.weights_may_change(module, frame)


class Lives:
    """Records ``RestartRecord`` as the run ends, for each line that began three or more lives of a model.

    A life begins as a model that was built in this run is trained, and again as most of its weights are initialised or
    loaded after it was trained. It rests from the second pass over the data on, and within a pass of a loader while
    one life is under way.
    """

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self._waker = _Waker(taps, self)
        self._recorder: Recorder | None = None
        self._lives: list[Life] = []
        self._life_of: dict[int, tuple[weakref.ref[Any], Life | None]] = {}  # by optimizer
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._count = 0
        self._pass = (0, 0, 0)  # its number, its dataset, its batch size
        self._input: tuple[int, int] | None = None
        self._before: list[float] = []
        self._unseen: tuple[Life, int] | None = None  # the only life while this rests, and since which step

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for what a life is made of."""
        self._recorder = recorder
        self._waker.attach()
        taps.on("root_begin", self._forward)
        taps.on("step_end", self._stepped)

    def flush(self, step: int) -> None:
        """Rest where every life that is under way is a long one, or the only one need but be counted the steps of."""
        self._catch_up(step + 1)
        lives = [life for _, life in self._life_of.values() if life is not None and not life.is_long]
        if not step or (lives and (len(self._life_of) > 1 or not self._pass[0] or lives[0].renewed)):
            return
        self._unseen = (lives[0], step + 1) if lives else None
        self._taps.rest(self, until=FOR_GOOD)

    def _catch_up(self, step: int) -> None:
        """Count the steps of the only life while this rested, up to one."""
        if self._unseen is not None:
            (life, since), self._unseen = self._unseen, None
            life.steps += step - since
            life.last = max(life.last, step - 1)

    def detach(self) -> None:
        """Hand over the lines that began three lives or more."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            self._catch_up(recorder.step)
            for key in dict.fromkeys(life.key for life in self._lives):
                lives = [life for life in self._lives if life.key == key]
                if len(lives) >= LEAST_LIVES:
                    recorder.add(restart(lives, least=LEAST_LIVES))
        self._lives.clear()
        self._life_of.clear()
        self._waker.built.clear()

    def _number_of(self, value: Any) -> int:
        """Return a number by which an object is known as long as it lives."""
        known = self._numbers.get(id(value))
        if known is None or known[0]() is not value:
            if len(self._numbers) >= MOST_NUMBERS:
                self._numbers = {key: each for key, each in self._numbers.items() if each[0]() is not None}
            try:
                ref = weakref.ref(value)
            except TypeError:  # a plain list takes none; the loader that is iterated keeps it
                return -id(value)
            self._count += 1
            known = self._numbers[id(value)] = (ref, self._count)
        return known[1]

    @property
    def counts_unseen(self) -> bool:
        """Whether this rests only until the next pass."""
        return self._unseen is not None

    def begins_pass(self, loader: Any) -> None:
        """Take note of a pass over a loader's data."""
        chosen = loader.sampler if type(loader.sampler) not in WHOLE else loader.dataset
        self._pass = (self._pass[0] + 1, self._number_of(chosen), loader.batch_size or 0)

    def _forward(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._pass[0] or not self._taps.grad_enabled:
            return
        given = next(filter(has_shape, tensors_in([*args, *kwargs.values()])), None)
        if given is None:
            return
        base = given._base if given._base is not None else given
        self._input = (self._number_of(base), hash((given.storage_offset(), given.shape)))

    def weights_set(self, what: Any, frame: FrameType) -> None:
        """Take note of weights that were loaded or initialised."""
        how = "loaded" if isinstance(what, nn.Module) else "initialised"
        given = parameters_of(what) if isinstance(what, nn.Module) else [what]
        self._renew([each for each in given if isinstance(each, torch.Tensor)], how, frame)

    def weights_may_change(self, module: nn.Module, frame: FrameType | None) -> None:
        """Compare some weights before and after a function went through a module."""
        parameters = [each for each in parameters_of(module) if not nn.parameter.is_lazy(each)]
        lengths = norms([each.detach() for each in parameters[:: len(parameters) // FEW or 1]])
        if frame is None:
            self._before = lengths
        elif lengths != self._before:
            self._renew(list(parameters), "initialised", frame, outer=True)

    def _renew(self, tensors: list[Any], how: str, frame: FrameType, *, outer: bool = False) -> None:
        given = {id(each): each.numel() for each in tensors if not nn.parameter.is_lazy(each)}
        for _, life in list(self._life_of.values()):
            if life is not None and life.steps and not given.keys().isdisjoint(life.parameters):
                if not life.renewed or outer:
                    life.how_next, life.lines_next = how, lines_of(None, frame)
                    some = [each.detach() for each in tensors[:: len(tensors) // FEW or 1]]
                    life.weights_next = repr(norms(some)) if how == "loaded" else ""
                life.renewed |= given.keys() & life.parameters.keys()

    def _stepped(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        if self._recorder is not None:
            self._catch_up(self._recorder.step)
        known = self._life_of.get(id(optimizer))
        life = known[1] if known is not None and known[0]() is optimizer else self._find(optimizer)
        if life is None or self._recorder is None:
            return
        if life.renewed:
            share = sum(life.parameters[each] for each in life.renewed) / max(sum(life.parameters.values()), 1)
            life = self._again(life, optimizer) if share >= MOST_OF_IT else life
            life.renewed.clear()
        life.step(self._recorder.step, self._pass, self._input)
        if not self._pass[0] and not life.is_long and life.steps >= MANY_STEPS:
            life.is_long = life.is_lost = True

    def _find(self, optimizer: torch.optim.Optimizer) -> Life | None:
        """Return the life that an optimizer's parameters are in; a new one of a model that was built in this run."""
        first = next((ref() for ref in self._cast.optimizer(optimizer).refs), None)
        model = next((m for m in present(self._cast.models) if any(r() is first for r in m.parameters.values())), None)
        module = model.ref() if model is not None else None
        life = None
        if model is not None and module is not None and first is not None:
            life = next((each for each in reversed(self._lives) if each.ref() is module), None)
            if life is None:
                built = self._waker.built.get(id(module))
                lines = built[1] if built is not None and built[0]() is module else ()
                life = self._begin(Life(module, model.name, "built", lines))
            life.settings.add(settings_of(optimizer))
        self._life_of = {key: each for key, each in self._life_of.items() if each[0]() is not None}
        self._life_of[id(optimizer)] = (weakref.ref(optimizer), life)
        return life

    def _again(self, life: Life, optimizer: torch.optim.Optimizer) -> Life:
        """Begin another life of a model that got new weights."""
        module = life.ref()
        if module is None:
            return life
        following = self._begin(Life(module, life.name, life.how_next, life.lines_next))
        following.weights = life.weights_next
        for key, (ref, each) in list(self._life_of.items()):
            if each is life:
                self._life_of[key] = (ref, following)
        following.settings.add(settings_of(optimizer))
        return following

    def _begin(self, life: Life) -> Life:
        module = life.ref()
        if module is not None:
            life.make = make_of(module)
            life.parameters = {id(p): p.numel() for p in parameters_of(module) if not nn.parameter.is_lazy(p)}
        life.seed = torch.initial_seed()
        self._lives.append(life)
        if len(self._lives) > MOST_LIVES:
            self._lives.pop(0)
        return life
