"""This file is the limits: how much a server answers, so that whoever asks cannot hold up the training."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one server allows.

    Args:
        requests_per_second: Requests that a client may make for long.
        burst: Requests that it may make at once.
        clients: Clients whose requests are counted; the one that was quiet longest is forgotten first.
        body_bytes: Largest body of a request; none is needed anywhere.
        connections: Connections at once.
        streams: Event streams at once.
        queued_events: Events that wait for one slow stream; older ones are lost.
        stream_seconds: How long one stream lasts; a browser opens the next one by itself.
        heartbeat_seconds: Silence after which a stream says that it is alive.
        look_seconds: Time between two looks at runs of this process.
        store_look_seconds: Time between two looks at a store.
    """

    requests_per_second: float = 20.0
    burst: int = 100
    clients: int = 1024
    body_bytes: int = 16_384
    connections: int = 64
    streams: int = 16
    queued_events: int = 256
    stream_seconds: float = 3600.0
    heartbeat_seconds: float = 10.0
    look_seconds: float = 0.5
    store_look_seconds: float = 1.0
