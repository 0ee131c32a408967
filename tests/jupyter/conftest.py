import gc
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from traitlets.config import Config

import torchmagic

ROOT = Path(torchmagic.__file__).parents[1]
TIMEOUT = 240  # seconds for one cell, far more than any takes
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Reply:
    """What a cell gave: the kernel's reply and everything it published, in order."""

    content: dict[str, Any]
    outputs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def status(self) -> str:
        return self.content["status"]

    @property
    def count(self) -> int:
        return self.content["execution_count"]

    def stream(self, name: str = "stdout") -> str:
        return "".join(c["text"] for kind, c in self.outputs if kind == "stream" and c["name"] == name)

    @property
    def value(self) -> str | None:
        return next((c["data"]["text/plain"] for kind, c in self.outputs if kind == "execute_result"), None)

    @property
    def kinds(self) -> list[str]:
        """The outputs by kind; a panel's widget and its static copy have kinds of their own."""
        kinds = []
        for kind, content in self.outputs:
            data = content.get("data", {})
            if "application/vnd.jupyter.widget-view+json" in data:
                kinds.append("panel")
            elif "data-torchmagic-static" in data.get("text/html", ""):
                kinds.append("static")
            elif kind == "stream":
                kinds += [content["name"]] if kinds[-1:] != [content["name"]] else []  # cut as time goes by
            elif kind in ("error", "execute_result", "display_data"):
                kinds.append(kind)
        return kinds

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [content for kind, content in self.outputs if kind == "error"]

    @property
    def traceback(self) -> str:
        return _ANSI.sub("", "\n".join(line for error in self.errors for line in error["traceback"]))


class Kernel:
    """A real kernel, spoken to as a notebook does."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    def run(
        self,
        code: str,
        *,
        on_output: Callable[[str, dict[str, Any]], None] = lambda _kind, _content: None,
        metadata: dict[str, Any] | None = None,
    ) -> Reply:
        outputs: list[tuple[str, dict[str, Any]]] = []

        def keep(message: dict[str, Any]) -> None:
            outputs.append((message["msg_type"], message["content"]))
            on_output(message["msg_type"], message["content"])

        if metadata is None:
            reply = self.client.execute_interactive(code, output_hook=keep, timeout=TIMEOUT)
            return Reply(reply["content"], outputs)
        request = self.client.session.msg(
            "execute_request",
            {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False},
            metadata=metadata,
        )
        self.client.shell_channel.send(request)
        return self._collect(request["header"]["msg_id"], keep, outputs)

    def _collect(self, request: str, keep: Callable[[dict[str, Any]], None], outputs: Any) -> Reply:
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") != request:
                continue
            keep(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == request:
                return Reply(reply["content"], outputs)


@pytest.fixture(scope="session")
def kernel_env(tmp_path_factory):
    """An environment of its own: no profile, history or settings of the person who runs the tests."""
    home = tmp_path_factory.mktemp("home")
    names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")
    return {
        **os.environ,
        **{name: str(home / name.lower()) for name in names},
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


@pytest.fixture(scope="module")
def kernel(kernel_env, tmp_path_factory):
    """One kernel a file, with the extension loaded."""
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(env=kernel_env, cwd=str(tmp_path_factory.mktemp("project")))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT)
        kernel = Kernel(manager, client)
        assert kernel.run("%load_ext torchmagic").status == "ok"
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A fresh shell in this process, without history."""
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config, ipython_dir=str(tmp_path / "ipython"))
    load_lazy = getattr(shell.magics_manager, "load_all_lazy_magics", None)
    if load_lazy is not None:  # IPython 8.12 has no magics that load later
        load_lazy()
    shell.run_cell("pass")  # from now on the shell has every attribute that a cell gives it
    yield shell
    if "torchmagic" in shell.extension_manager.loaded:
        shell.run_line_magic("unload_ext", "torchmagic")
    gc.freeze()  # IPython has Python look through all objects: half a second in a process that knows every test
    shell.reset(new_session=False)
    gc.unfreeze()
