"""``python -m demo.agent ADDRESS --chromium PATH``: the agent on a running demo; ``./demo/run --agent`` does it all."""

from __future__ import annotations

import argparse
import contextlib
import sys

from demo.agent.browser import chromium
from demo.agent.story import play
from demo.agent.transcript import Stopped, Transcript


def main() -> int:
    """Returns 0 where every step was ok, else 1."""
    parser = argparse.ArgumentParser(prog="demo.agent", description="Play the scripted agent on a running demo.")
    parser.add_argument("address", help="where the demo is served, such as http://127.0.0.1:8800/")
    parser.add_argument("--chromium", required=True, help="path of the browser")
    options = parser.parse_args()
    transcript = Transcript()
    with contextlib.suppress(Stopped), chromium(options.chromium, transcript) as (agent, watch):
        play(agent, watch, options.address)
    print(transcript.summary())
    return 0 if transcript.steps == transcript.ok else 1


if __name__ == "__main__":
    sys.exit(main())
