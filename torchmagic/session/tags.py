"""This file is what a user may write to a run: a note, and tags, of which some are given and others taken off."""

from collections.abc import Iterable


def retagged(present: Iterable[str], changes: Iterable[str]) -> tuple[str, ...]:
    """Return the tags that a run has then, each once, in their order.

    Args:
        present: Those that it has.
        changes: Those to give to it; with a minus in front, those to take off.

    Raises:
        ValueError: If one of them is no text of a letter or more; one line.
    """
    changes = tuple(changes)
    for tag in changes:
        if not isinstance(tag, str) or not tag.strip():
            raise ValueError(f"a tag is a text such as 'good', and '-good' takes it off; {tag!r} came")
    off = {tag[1:] for tag in changes if tag.startswith("-")}
    on = [tag for tag in changes if not tag.startswith("-")]
    return tuple(dict.fromkeys(tag for tag in (*present, *on) if tag not in off))


def noted(text: str) -> str:
    """Return a note.

    Raises:
        ValueError: If it is no text; one line.
    """
    if not isinstance(text, str):
        raise ValueError(f"a note is a text such as 'too high', and '' removes it; {text!r} came")  # noqa: TRY004
    return text
