"""Start a coroutine now, and only bother the event loop if it really waits.

From Python 3.12 on that is an eager task. On 3.11 the first step is made by hand, inside the task that would carry on
with it, so that `asyncio.current_task`, `asyncio.timeout` and context variables see what they would see anyway.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T", covariant=True)


class Started(Protocol[T]):
    """A coroutine that was started: the part of `asyncio.Task` that the core uses."""

    def done(self) -> bool: ...
    def result(self) -> T: ...
    def cancel(self) -> object: ...
    def add_done_callback(self, callback: Callable[[Any], object], /) -> None: ...


if sys.version_info >= (3, 12):

    def start(coroutine: Coroutine[Any, Any, T]) -> Started[T]:
        """Run ``coroutine`` up to its first wait; what comes back is done already if there was none."""
        return asyncio.Task(coroutine, loop=asyncio.get_running_loop(), eager_start=True)

else:

    def start(coroutine: Coroutine[Any, Any, T]) -> Started[T]:
        """Run ``coroutine`` up to its first wait; what comes back is done already if there was none."""
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        rest = _Rest(coroutine)
        follow = rest.follow()
        follow.send(None)  # to its first yield, where a cancellation that comes before the loop's turn can reach it
        task: asyncio.Task[T] = loop.create_task(follow, context=context)
        current = asyncio.current_task(loop)
        if current is not None:
            asyncio._leave_task(loop, current)
        asyncio._enter_task(loop, task)
        try:
            finished = context.run(rest.first_step)
        finally:
            asyncio._leave_task(loop, task)
            if current is not None:
                asyncio._enter_task(loop, current)
        return finished or task


class _Finished:
    """A coroutine that ended in its first step."""

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self._value, self._error = value, error

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> BaseException | None:
        return self._error

    def cancel(self) -> bool:
        return False

    def add_done_callback(self, callback: Callable[[Any], object], /) -> None:
        asyncio.get_running_loop().call_soon(callback, self)


class _Rest:
    """A coroutine after its first step, in a shape that a 3.11 task can drive."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self._waits_for: Any = None
        self._finished = False

    def first_step(self) -> _Finished | None:
        try:
            self._waits_for = self._coroutine.send(None)
            return None
        except StopIteration as stop:
            self._finished = True
            return _Finished(stop.value)
        except (KeyboardInterrupt, SystemExit):
            self._finished = True
            raise
        except BaseException as error:
            self._finished = True
            return _Finished(error=error)

    def follow(self) -> Generator[Any, Any, Any]:
        """What the task drives: a yield where `start` leaves it, then everything after the first step."""
        waits_for, fresh = None, True
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:
                if self._finished:
                    raise
                step = partial(self._coroutine.throw, error)
            else:
                if self._finished:
                    return None
                if fresh:
                    fresh, waits_for = False, self._waits_for
                    continue
                step = partial(self._coroutine.send, sent)
            fresh = False
            try:
                waits_for = step()
            except StopIteration as stop:
                return stop.value
