"""This file is the accelerators that a process has opened, whoever made them; asking opens none."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

# A state of random numbers, and what puts a stream back to it.
Streams = tuple[tuple[Callable[[Any], Any], Any], ...]


def _names() -> tuple[str, ...]:
    """Names of kinds of devices; the last is that of a backend from outside torch, if one gave itself a name."""
    return "cuda", "mps", "xpu", torch._C._get_privateuse1_backend_name()  # noqa: SLF001 - as it was renamed


def are_possible() -> bool:
    """Whether this process might open an accelerator, now or later."""
    return torch.backends.mps.is_available() or any(
        getattr(each, "is_available", bool)() for each in _modules() if each is not torch.mps
    )


def in_use() -> Iterator[Any]:
    """Yield torch's module of each kind of accelerator that is open in this process, such as ``torch.cuda``."""
    yield from filter(_is_open, _modules())


def streams() -> Streams:
    """Return where the random numbers of the accelerators in use stand; nothing is drawn.

    While a graph of kernels is being captured a stream cannot be read, and is left out.
    """
    found = []
    for module in in_use():
        read = getattr(module, "get_rng_state_all", None) or module.get_rng_state
        write = module.set_rng_state_all if hasattr(module, "get_rng_state_all") else module.set_rng_state
        if not is_capturing():
            found.append((write, read()))
    return tuple(found)


def put_back(states: Streams) -> None:
    """Put random numbers back to where they stood."""
    for put, state in states:
        put(state)


def have_moved(states: Streams) -> bool:
    """Whether random numbers of an accelerator were drawn since its streams were read, or one was opened."""
    now = [_flat(state) for _, state in streams()]
    before = [_flat(state) for _, state in states]
    return [len(each) for each in now] != [len(each) for each in before] or not all(
        map(torch.equal, itertools.chain(*now), itertools.chain(*before))
    )


def is_capturing() -> bool:
    """Whether the current stream's kernels are being captured into a graph, so that no value can be asked for."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()  # type: ignore[no-untyped-call] # torch


def wait_for(device: torch.device) -> None:
    """Wait until all that a device was given is done; the host itself has nothing to wait for."""
    module = _module(device.type)
    wait = getattr(module, "synchronize", None) if device.type != "cpu" else None
    if wait is not None:
        wait(*([] if device.type == "mps" else [device]))


def rounds_to_tf32(device: torch.device) -> bool:
    """Whether torch lets a CUDA device round the factors of float32 products to the 10 bits of TF32.

    Convolutions may unless it is forbidden (``torch.backends.cudnn.allow_tf32``); devices before Ampere have none.
    """
    if device.type != "cuda":
        return False
    try:
        allowed = torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:  # where the newer names of these settings were used, the older ones may not be asked
        return True
    return bool(allowed) and torch.cuda.get_device_capability(device) >= (8, 0)


def allocated_bytes(device: torch.device) -> int:
    """Return the bytes that a device's allocator has handed out; 0 where it does not tell."""
    module = _module(device.type)
    names = ("memory_allocated", "current_allocated_memory")
    told = next((getattr(module, name) for name in names if hasattr(module, name)), None)
    if told is None or device.type == "cpu":
        return 0
    return int(told() if device.type == "mps" else told(device))


def device_names() -> tuple[str, tuple[str, ...]]:
    """Return the name of the device that is current, ``cpu`` where none was opened, and the names of all opened ones.

    MPS, which nobody opens, is not among them.
    """
    opened = [module for module in in_use() if module is not torch.mps]
    names = [[_device_name(module, i) for i in range(module.device_count())] for module in opened]
    current = names[0][opened[0].current_device()] if names and names[0] else "cpu"
    return current, tuple(itertools.chain(*names))


def autocast_kinds() -> tuple[str, ...]:
    """Return the kinds of devices, the host among them, that have an autocast of their own."""
    known = ("cpu", *(name for name in _names() if _module(name) is not None))
    return tuple(name for name in known if torch.amp.is_autocast_available(name))


def _device_name(module: Any, number: int) -> str:
    kind = module.__name__.removeprefix("torch.")
    return str(module.get_device_name(number)) if hasattr(module, "get_device_name") else f"{kind}:{number}"


def _flat(state: Any) -> list[torch.Tensor]:
    return [state] if isinstance(state, torch.Tensor) else list(state)


def _modules() -> Iterator[Any]:
    yield from (module for name in _names() if (module := _module(name)) is not None)


def _module(name: str) -> Any:
    module = getattr(torch, name, None)
    return module if hasattr(module, "get_rng_state") else None


def _is_open(module: Any) -> bool:
    if module is torch.mps:
        return torch.backends.mps.is_available()
    available = getattr(module, "is_available", bool)
    return bool(getattr(module, "is_initialized", available)())
