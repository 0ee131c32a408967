"""This file is the lock on one byte of a file, as POSIX and Windows have it; a process that dies gives it up."""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    def lock(file: int, at: int) -> None:
        """Lock a byte; an OSError where another process holds it."""
        os.lseek(file, at, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    lock_shared = lock  # Windows knows one kind

    def unlock(file: int, at: int) -> None:
        """Unlock a byte."""
        os.lseek(file, at, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def lock(file: int, at: int) -> None:
        """Lock a byte; an OSError where another process holds it."""
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)

    def lock_shared(file: int, at: int) -> None:
        """Lock a byte against those who lock it alone; an OSError where one does."""
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, at)

    def unlock(file: int, at: int) -> None:
        """Unlock a byte."""
        fcntl.lockf(file, fcntl.LOCK_UN, 1, at)
