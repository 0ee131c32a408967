"""This file is a private JupyterLab: own port, token and folders, and the interpreter that runs the tests as kernel."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

_KERNEL = {
    "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
}
_QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}


class Lab:
    """A server that can be stopped and started again on the same folders, so that notebooks stay trusted."""

    def __init__(self, home, *, paths=()):
        self.notebooks = home / "notebooks"
        self.token = secrets.token_hex(8)
        self.home = home
        self._log = home / "server.log"
        self._server = None
        self.notebooks.mkdir(parents=True)
        self._write(home / "data" / "kernels" / "python3" / "kernel.json", _KERNEL)
        self.configure("apputils-extension", "notification", _QUIET)
        places = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
        self._environment = {
            **os.environ,
            **{f"JUPYTER_{name}_DIR": str(home / folder) for name, folder in places.items()},
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "IPYTHONDIR": str(home / "ipython"),
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "OMP_NUM_THREADS": "1",
        }

    def configure(self, package, plugin, settings):
        """Write the user settings of one of Lab's plugins; they hold from the next page load on."""
        self._write(self.home / "settings" / "@jupyterlab" / package / f"{plugin}.jupyterlab-settings", settings)

    def start(self):
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.root_dir": self.notebooks,
            "IdentityProvider.token": self.token,
            "LabApp.news_url": "",
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += [f"--{name}={value}" for name, value in options.items()]
        with self._log.open("a") as log:
            self._server = subprocess.Popen(
                command, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        self._wait_until_it_answers()
        return self

    def stop(self):
        if self._server is None or self._server.poll() is not None:
            return
        self._server.send_signal(signal.SIGTERM)
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()

    def sessions(self):
        return self._ask("sessions")

    def end_kernels(self):
        for session in self.sessions():
            self._ask(f"sessions/{session['id']}", method="DELETE")

    def log(self):
        return self._log.read_text()

    def _ask(self, path, *, method="GET"):
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method, headers=headers)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - loopback
            body = answer.read()
        return json.loads(body) if body else None

    def _wait_until_it_answers(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self._server.poll() is not None:
                raise RuntimeError(self.log())
            try:
                self._ask("status")
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
            else:
                return
        raise TimeoutError(self.log())

    def _write(self, path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
