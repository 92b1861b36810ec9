"""A client of the dashboard without a browser: it runs a page and stores the messages sent."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

ROOT = Path(__file__).parents[1]
T = TypeVar("T")
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class Session:
    """A session of one page: ``async with Session(address, page, **query) as session``."""

    def __init__(self, address: str, page: str, **query: object) -> None:
        self.server = address
        self.address, self.page = address.replace("http", "ws", 1), page
        self.query = urlencode({"v": 1, **query})
        self.sent: list[bytes] = []  # all messages of the server, in order
        self.shown: list[Any] = []  # elements of the last run, as messages
        self._fragments: dict[str, str] = {}  # {widget id: id of the fragment that it is in}

    async def __aenter__(self) -> Self:
        spoken = [websockets.Subprotocol("streamlit")]
        how = {"subprotocols": spoken, "max_size": None, "ping_interval": None}
        self._socket = await websockets.connect(f"{self.address}/_stcore/stream", **how)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def run(self, *changed: WidgetState) -> list[Any]:
        """Run the page to its end; return the shown elements as messages.

        A change reruns only the fragment of its widget, as in a browser.
        """
        await self.ask(*changed)
        return await self.answer()

    async def upload(self, key: str, name: str, data: bytes) -> list[Any]:
        """Upload a file to the uploader with this key, as a browser does, and run the page."""
        message = BackMsg()
        message.file_urls_request.file_names.append(name)
        await self._socket.send(message.SerializeToString())
        got = ForwardMsg()
        while got.WhichOneof("type") != "file_urls_response":
            got = ForwardMsg.FromString(await self._socket.recv())
        (place,) = got.file_urls_response.file_urls
        with urlopen(f"{self.server}/_stcore/health") as health:
            token = health.headers["Set-Cookie"].split(";")[0].partition("=")[2]
        head = f'--edge\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + b"\r\n--edge--\r\n"
        headers = {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
        headers["Content-Type"] = "multipart/form-data; boundary=edge"
        request = Request(self.server + place.upload_url, body, headers, method="PUT")
        await asyncio.to_thread(lambda: urlopen(request).close())
        changed = widget(self.shown, key)
        listed = changed.file_uploader_state_value.uploaded_file_info
        listed.add(file_id=place.file_id, name=name, size=len(data), file_urls=place)
        return await self.run(changed)

    async def ask(self, *changed: WidgetState) -> None:
        """Request a run of the page with these widgets changed; a run in progress is stopped."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        message.rerun_script.widget_states.widgets.extend(changed)
        touched = {self._fragments.get(each.id, "") for each in changed} or {""}
        (message.rerun_script.fragment_id,) = touched
        await self._socket.send(message.SerializeToString())

    async def answer(self) -> list[Any]:
        """Wait for the end of a run; return the shown elements."""
        self.shown = shown = list[Any]()
        while True:
            data = await self._socket.recv()
            assert isinstance(data, bytes)
            self.sent.append(data)
            got = ForwardMsg.FromString(data)
            kind = got.WhichOneof("type")
            if kind == "delta" and got.delta.WhichOneof("type") == "new_element":
                element = got.delta.new_element
                shown.append(getattr(element, element.WhichOneof("type")))
                self._fragments[getattr(shown[-1], "id", "")] = got.delta.fragment_id
            elif kind == "page_info_changed":
                self.query = got.page_info_changed.query_string
            elif kind == "script_finished" and got.script_finished in FINISHED:
                return shown


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new thread: Playwright may have an event loop in the caller's thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def widget(shown: list[Any], key: str) -> WidgetState:
    """Return the state of the widget with this key, to be changed and sent."""
    return WidgetState(id=next(x.id for x in shown if getattr(x, "id", "").endswith(f"-{key}")))


def texts(shown: list[Any], kind: str) -> list[str]:
    return [x.body.replace("\u00a0", " ") for x in shown if type(x).__name__ == kind]


def serve(script: str | Path = "app.py", port: int = 0) -> tuple[subprocess.Popen[str], str]:
    """Start a server as in the README, on a free port by default; return process and address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = port or free.getsockname()[1]
    options = {"headless": "true", "address": "127.0.0.1", "port": port}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--server.{name}={value}" for name, value in options.items()]
    how = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, text=True, **how)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "URL" in line:
            return process, f"http://127.0.0.1:{port}"
    raise RuntimeError("the server did not start: " + "".join(said))
