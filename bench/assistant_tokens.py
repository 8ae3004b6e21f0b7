"""How many tokens results for assistants take, by the tokenizers of GPT-4o and GPT-4: the npm package gpt-tokenizer.

    npm install --prefix bench/data/tokens gpt-tokenizer
    python bench/assistant_tokens.py web.cocite URL...

Every address is asked of `related_pages` and `recommend`, ten results each, over MCP.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters
from tables import show

PACKAGE = Path(__file__).parent / "data" / "tokens"
TOKENIZERS = ("o200k_base", "cl100k_base")
COUNT = """
const texts = JSON.parse(require('fs').readFileSync(0));
const counts = name => texts.map(text => require('gpt-tokenizer/encoding/' + name).encode(text).length);
console.log(JSON.stringify(process.argv.slice(1).map(counts)));
"""


async def ask(store: str, urls: list[str]) -> dict[str, list[str]]:
    """The texts of results by tool."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "cocite", "mcp", "-i", store])
    found: dict[str, list[str]] = {"related_pages": [], "recommend": []}
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for tool, texts in found.items():
            for url in urls:
                result = await session.call_tool(tool, {"urls": [url], "k": 10})
                texts.append("".join(getattr(part, "text", "") for part in result.content))
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("urls", nargs="+")
    given = parser.parse_args()
    rows = []
    for tool, texts in asyncio.run(ask(given.store, given.urls)).items():
        command = ["node", "-e", COUNT, *TOKENIZERS]
        counted = subprocess.run(
            command, cwd=PACKAGE, input=json.dumps(texts), check=True, capture_output=True, text=True
        )
        for name, numbers in zip(TOKENIZERS, json.loads(counted.stdout), strict=True):
            rows.append([tool, name, len(numbers), min(numbers), median(numbers), max(numbers)])
    show("Tokens of a result", ["tool", "tokenizer", "results", "least", "median", "most"], rows)


if __name__ == "__main__":
    main()
