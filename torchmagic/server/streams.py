"""This file is the event streams: one look for all who listen, and a bounded queue for each of them."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TypeVar

from torchmagic.server.events import News, event
from torchmagic.server.limits import Limits
from torchmagic.session.database import StoreError

T = TypeVar("T")
# After so many milliseconds a browser whose stream ended opens the next one.
_RETRY = "retry: 2000\n\n"
_HEARTBEAT = ": still here\n\n"


class Streams:
    """All event streams of a server; used from its event loop alone.

    Nobody looks at the runs while nobody listens, and the training waits for none of them.

    Args:
        news: What became new.
        limits: How many streams there may be, and how long each is.
        in_thread: Whether a look reads a disk and is therefore made beside the event loop.
    """

    def __init__(self, news: News, limits: Limits, *, in_thread: bool) -> None:
        self._news, self._limits, self._in_thread = news, limits, in_thread
        self._queues: set[_Queue] = set()
        self._looking: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._closed = False

    @property
    def has_room(self) -> bool:
        """Whether one more may listen."""
        return len(self._queues) < self._limits.streams and not self._closed

    async def listen(self) -> AsyncIterator[str]:
        """Yield events until the stream's time is over, the client is gone or the server stops."""
        queue = _Queue(self._limits.queued_events)
        self._queues.add(queue)
        try:
            await self._begin()
            yield "".join((_RETRY, *self._news.open()))
            async for line in self._lines(queue):
                yield line
        finally:
            self._queues.discard(queue)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for queue in self._queues:
            queue.end()
        if self._looking is not None:
            self._looking.cancel()

    async def _lines(self, queue: "_Queue") -> AsyncIterator[str]:
        end = time.monotonic() + self._limits.stream_seconds
        while not queue.is_over and (left := end - time.monotonic()) > 0:
            if events := queue.taken():
                yield "".join(events)
            queue.arrived.clear()
            patience = min(left, self._limits.heartbeat_seconds)
            try:
                await asyncio.wait_for(queue.arrived.wait(), patience)
            except TimeoutError:
                yield _HEARTBEAT

    async def _begin(self) -> None:
        """Begin to look where nobody does."""
        async with self._beginning:
            if self._looking is not None and not self._looking.done():
                return
            with suppress(StoreError):  # the next look tells
                await self._made(self._news.begin)
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        """Look again and again as long as somebody listens; where that fails, all streams end, and may begin anew."""
        pause = self._limits.store_look_seconds if self._in_thread else self._limits.look_seconds
        try:
            while self._queues:
                await asyncio.sleep(pause)
                found = await self._found()
                for queue in self._queues:
                    queue.put(found)
        finally:
            self._news.end()
            for queue in self._queues:
                queue.end()

    async def _found(self) -> list[str]:
        try:
            return await self._made(self._news.look)
        except StoreError as error:
            return [event("trouble", {"error": str(error)})]

    async def _made(self, look: Callable[[], T]) -> T:
        return await asyncio.to_thread(look) if self._in_thread else look()


class _Queue:
    """What waits for one stream; the oldest is lost where it does not keep up."""

    def __init__(self, most: int) -> None:
        self.arrived = asyncio.Event()
        self._waiting: deque[str] = deque()
        self._most, self._lost = most, 0
        self.is_over = False

    def end(self) -> None:
        """Have the stream end."""
        self.is_over = True
        self.arrived.set()

    def put(self, events: list[str]) -> None:
        """Add events."""
        self._waiting.extend(events)
        while len(self._waiting) > self._most:
            self._waiting.popleft()
            self._lost += 1
        if events:
            self.arrived.set()

    def taken(self) -> list[str]:
        """Take out what waits, after a word on what was lost."""
        lost, self._lost = self._lost, 0
        events = [event("lost", {"events": lost})] if lost else []
        events += self._waiting
        self._waiting.clear()
        return events
