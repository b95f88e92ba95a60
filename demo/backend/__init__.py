"""The devices demo's backend: Starlette under uvicorn, with SQLite as the only place where data lives."""
