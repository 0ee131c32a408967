"""This file is the names in a query: one that an address does not take is refused, as it is a slip of the pen."""

from fastapi import HTTPException, Request


def known_names(request: Request) -> None:
    """Refuse a request whose query has other names than its address takes.

    Raises:
        HTTPException: If it does; its one line says which came and which may.
    """
    known = [each.alias for each in request.scope["route"].dependant.query_params]
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        taken = f"this address takes {', '.join(known)}" if known else "this address takes none; leave it out"
        raise HTTPException(422, f"the query has {', '.join(map(repr, unknown))}; {taken}")
