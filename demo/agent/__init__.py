"""The scripted agent of the devices demo: operates the page by its native WebMCP tools, and looks at the page itself
to see whether what the tools said is true. It uses nothing of this project's own JavaScript or Python."""
