"""Stands in for the JavaScript half in unit tests: the remote end of a model context, recording what is asked of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from webmcp.model_context import ModelContext, RemoteListener


class FakeEnd:
    """`webmcp.model_context.RemoteEnd` without a browser; names in ``taken`` are refused.

    ``log`` holds ("register" | "remove", name) in order, ``tools`` the definitions by name.
    """

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        self.taken = taken
        self.log: list[tuple[str, str]] = []
        self.options: dict[str, Any] = {}
        self.released = 0
        self.listener: RemoteListener
        self._tools: dict[int, dict[str, Any]] = {}
        self._answers: dict[int, asyncio.Future[str]] = {}

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        return {definition["name"]: definition for definition in self._tools.values()}

    def connect(self, listener: RemoteListener) -> FakeEnd:
        self.listener = listener
        return self

    async def find(self) -> ModelContext:
        """What an adapter takes as ``model_context=``."""
        return ModelContext(self.connect)

    def register(self, tool: int, definition_text: str, options_text: str) -> None:
        definition = json.loads(definition_text)
        name = definition["name"]
        self.log.append(("register", name))
        if name in self.taken:
            asyncio.get_running_loop().call_soon(self.listener.refused, tool, "Duplicate tool name")
            return
        assert name not in self.tools, "a name was registered before its predecessor was removed"
        self._tools[tool] = definition
        self.options[name] = json.loads(options_text)

    def remove(self, tool: int) -> None:
        self.log.append(("remove", self._tools.pop(tool)["name"]))

    def settle(self, call: int, text: str) -> None:
        self._answers[call].set_result(text)

    def list(self) -> str:
        return json.dumps(list(self._tools.values()))

    def release(self) -> None:
        self.released += 1

    def begin(self, name: str, input: Any = None) -> str | int:
        """Call a tool as JavaScript does: the envelope's text, or the number of a waiting call."""
        tool = next(tool for tool, definition in self._tools.items() if definition["name"] == name)
        answer = self.listener.run(tool, input if isinstance(input, str) else json.dumps(input or {}))
        if isinstance(answer, int):
            self._answers[answer] = asyncio.get_running_loop().create_future()
        return answer

    async def finish(self, answer: str | int) -> Mapping[str, Any]:
        """The envelope behind what `begin` gave."""
        text = answer if isinstance(answer, str) else await asyncio.wait_for(self._answers[answer], 5)
        envelope: Mapping[str, Any] = json.loads(text)
        return envelope

    async def call(self, name: str, input: Any = None) -> Mapping[str, Any]:
        """Call a tool and give its envelope."""
        return await self.finish(self.begin(name, input))
