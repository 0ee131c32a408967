"""This file is which modules cost much more than those beside them of the same class."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median
from typing import TypeVar

from torchmagic.views.folded_tree import Node, Part

P = TypeVar("P", bound=Part)

_NUMBER = re.compile(r"\d+")
# So much more than the usual one of its likes takes is no chance ...
TIMES = 2.0
# ... where it is this share of the whole model as well.
LEAST_SHARE = 0.02
# Of fewer it cannot be said which is usual.
LEAST_LIKES = 3


def dearer_than_their_likes(top: Node[P], cost: Callable[[P], float]) -> frozenset[str]:
    """Return the paths of modules that take more than twice what their likes take.

    Args:
        top: A tree.
        cost: What a module takes, with the modules in it.
    """
    return frozenset(_dear(top, cost, LEAST_SHARE * cost(top.part)))


def _dear(node: Node[P], cost: Callable[[P], float], least: float) -> Iterator[str]:
    likes: defaultdict[tuple[str, str], list[P]] = defaultdict(list)
    for child in node.children:
        likes[_NUMBER.sub("", child.name), child.part.class_name].append(child.part)
        yield from _dear(child, cost, least)
    for parts in likes.values():
        if len(parts) >= LEAST_LIKES:
            usual = median(map(cost, parts))
            yield from (part.path for part in parts if cost(part) > max(TIMES * usual, least))
