"""Skins over one registry: the embedded toolset now; what an adapter owes the registry is core rules §18."""

from surface.adapters.toolset import Tool, Toolset, ToolState

__all__ = ["Tool", "ToolState", "Toolset"]
