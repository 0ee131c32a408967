"""This file is a notebook's process: a shell whose watched cells launch ranks, by accelerate and by torch itself."""

import json
import logging
import socket
import sys

from IPython.core.interactiveshell import InteractiveShell
from launched import train

import torchmagic


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return str(door.getsockname()[1])


def main():
    logging.getLogger("torch.distributed.elastic").setLevel(logging.ERROR)
    shell = InteractiveShell.instance()
    shell.user_ns.update(train=train, port=free_port())
    shell.run_line_magic("load_ext", "torchmagic")
    cells = {
        "forked": "from accelerate import notebook_launcher\n"
        f"notebook_launcher(train, num_processes=2, use_port='{free_port()}')",
        "spawned": "from torch.multiprocessing import spawn\nspawn(train, args=(port,), nprocs=2)",
    }
    said = {}
    for name, body in cells.items():
        result = shell.run_cell(f"%%torchdebug --name {name}\n{body}")
        run = torchmagic.session.last
        ranks = run.ranks
        said[name] = {
            "error": repr(result.error_in_exec),
            "steps": None if ranks is None else {rank: each.steps for rank, each in ranks.runs.items()},
            "names": None if ranks is None else [each.name for each in ranks.runs.values()],
            "findings": [each.rule for each in run.findings],
            "runs": len(torchmagic.session.runs),
        }
    sys.stdout.write("SAID " + json.dumps(said) + "\n")


if __name__ == "__main__":
    sys.exit(main())
