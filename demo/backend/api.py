"""The JSON endpoints of the devices page. They run in Starlette's thread pool, since SQLite blocks."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from demo.backend.errors import ApiError
from demo.backend.store import Store, iso

NO_STORE = {"Cache-Control": "no-store"}


def list_devices(request: Request) -> JSONResponse:
    """``GET /api/devices`` → ``{devices, sites, generatedAt}``: the whole fleet, which the page filters by itself."""
    store = _store(request)
    return JSONResponse(
        {"devices": store.devices(), "sites": store.sites(), "generatedAt": iso(time.time())}, headers=NO_STORE
    )


def read_device(request: Request) -> JSONResponse:
    """``GET /api/devices/{id}`` → ``{device, readings, events}``, newest first; 404 ``DEVICE_NOT_FOUND``."""
    device_id = request.path_params["id"]
    found = _store(request).device(device_id)
    if found is None:
        raise ApiError(404, "DEVICE_NOT_FOUND", f"There is no device {device_id[:80]!r}.", id=device_id[:80])
    return JSONResponse(found, headers=NO_STORE)


def health(request: Request) -> JSONResponse:
    """``GET /api/health`` → ``{status, devices}``: answers once the store does."""
    return JSONResponse({"status": "ok", "devices": _store(request).count()}, headers=NO_STORE)


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


# Mounted, so that a wrong method below /api/ is answered here and not by the page's files.
API = Mount(
    "/api",
    routes=[
        Route("/devices", list_devices),
        Route("/devices/{id}", read_device),
        Route("/health", health),
    ],
)
