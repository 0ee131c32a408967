"""This file chooses the cheapest cures for a failed allocation, in the user's own names."""

from collections.abc import Iterator

from torchmagic.records.crash import CrashSiteRecord, OutOfMemoryRecord, Resident

MOST_CURES = 3
# A variable or a list of graphs below this share of all that is resident would free too little.
WORTH = 0.1
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STEP = 1024


def sized(num_bytes: int | None) -> str:
    """Return bytes in words: ``1.5 GiB``."""
    size, unit = float(num_bytes or 0), 0
    while float(f"{size:.1f}") >= _STEP and unit < len(_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def cures(record: OutOfMemoryRecord, site: CrashSiteRecord, *, huge: bool) -> list[str]:
    """Return what to do, the cheapest first: what costs nothing, then what costs time, then what changes results."""
    found = _for_huge(site) if huge else _for_full(record)
    return list(dict.fromkeys(found))[:MOST_CURES]


def _for_huge(site: CrashSiteRecord) -> Iterator[str]:
    names = " and ".join(fact.name for fact in site.tensors[:2]) or "the tensors on this line"
    yield f"look at the shapes of {names}: one has a dimension too many or in the wrong place"
    if len(site.tensors) > 1:
        first = site.tensors[0].name
        yield f"work in pieces: torch.cat([f(part) for part in {first}.split(1024)])"
    if site.settings.get("in_features"):
        yield f"make {site.module} smaller: pool or stride in front of it"
    yield "keep it in a smaller dtype, as torch.float16 or torch.int32"


def _for_full(record: OutOfMemoryRecord) -> Iterator[str]:
    total = sum(record.categories.values()) or 1
    kept = [each for each in record.residents if each.num_bytes > WORTH * total]
    for each in kept:
        if each.what.startswith("graphs of"):
            yield f"keep numbers in {each.name}, not graphs: {each.name}.append(value.item()) or value.detach()"
    if record.grad_enabled and not record.is_training and record.model:
        yield f"with torch.no_grad(): {record.model}(…)  # it is in eval mode, and nothing needs its graph"
    yield from (f"del {each.name}  # frees {sized(each.num_bytes)}" for each in kept if _can_go(each, record))
    if record.batch_size and record.batch_size > 1:
        half = record.batch_size // 2
        yield f"{record.loader} = DataLoader(…, batch_size={half}) for {record.batch_size}, two backwards a step"
    elif record.grad_enabled:
        yield "run half the batch at a time: two backwards on halves of it, then one step"
    if record.grad_enabled and not record.half:
        kind = record.device.partition(":")[0]
        yield f"with torch.autocast({kind!r}, dtype=torch.bfloat16): …  # halves the activations"
    if record.optimizer and record.categories.get("optimizer state", 0) > WORTH * total:
        yield f"an optimizer that keeps less than {record.optimizer}: SGD, or Adafactor"
    if record.model and record.grad_enabled:
        yield f"torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False) for the largest parts of {record.model}"
    yield f"move what waits off {record.device}, or choose a smaller model"
    yield "restart the kernel: what earlier cells keep goes with it"


def _can_go(each: Resident, record: OutOfMemoryRecord) -> bool:
    """Whether a variable can be dropped: a graph goes with the loss, and a model is what the cell is about."""
    return not each.what.startswith("graph") and each.name.partition(".")[0] != record.model and "." not in each.name
