"""This file is the waiting room: a run that nobody asked for stays here until a model has run in it."""

from torchmagic.session.run import Run
from torchmagic.session.session import Session


class WaitingRoom(Session):
    """A session that neither lists nor stores its run before it is admitted.

    Args:
        session: The session behind it.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session.folder)
        self._session = session
        self._admitted = False

    def admit(self, run: Run) -> None:
        """Let the run into the session; from now on it is stored as well. Safe to call again."""
        if not self._admitted:
            self._admitted = True
            self._session.add(run)

    def write(self, run: Run, *, final: bool = False, urgent: bool = False) -> None:
        """Write what is new in the run, once it is admitted."""
        if self._admitted:
            self._session.write(run, final=final, urgent=urgent)
