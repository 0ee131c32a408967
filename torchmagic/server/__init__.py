"""The room of the HTTP face: a session over the network, without torch."""
