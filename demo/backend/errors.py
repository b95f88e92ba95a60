"""How the API says no: always ``{"error": {"code", "message", "details"?}}``, and never a stack trace."""

from __future__ import annotations

import logging
import sqlite3
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

log = logging.getLogger("demo.backend")

HTTP_CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}


class ApiError(Exception):
    """A typed refusal: HTTP ``status``, a stable ``code`` for programs, a ``message`` for people, JSON ``details``."""

    def __init__(self, status: int, code: str, message: str, **details: Any) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        super().__init__(message)

    def response(self) -> JSONResponse:
        """The answer that carries this error."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            error["details"] = self.details
        return JSONResponse({"error": error}, self.status, headers={"Cache-Control": "no-store"})


async def on_api_error(request: Request, error: Exception) -> Response:
    """An :class:`ApiError` that an endpoint raised."""
    assert isinstance(error, ApiError)
    return error.response()


async def on_http_error(request: Request, error: Exception) -> Response:
    """No such address, or the wrong method: JSON below ``/api/``, a line of text elsewhere."""
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        code = HTTP_CODES.get(error.status_code, "HTTP_ERROR")
        response: Response = ApiError(error.status_code, code, error.detail, path=request.url.path).response()
    else:
        response = PlainTextResponse(f"{error.detail}\n", error.status_code)
    response.headers.update(error.headers or {})
    return response


async def on_storage_error(request: Request, error: Exception) -> Response:
    """SQLite failed: the fault is here and may pass, which is what 503 says."""
    assert isinstance(error, sqlite3.Error)
    log.error("storage: %s", error)
    return ApiError(
        503, "STORAGE_UNAVAILABLE", "The device store does not answer right now. Try again soon."
    ).response()


async def on_crash(request: Request, error: Exception) -> Response:
    """Anything else: logged by the server, told to nobody."""
    return ApiError(500, "INTERNAL_ERROR", "The server failed while it answered. Try again.").response()


HANDLERS: dict[Any, Any] = {
    ApiError: on_api_error,
    HTTPException: on_http_error,
    sqlite3.Error: on_storage_error,
    Exception: on_crash,
}
