"""``minrepro mcp``, by the official client, and ``minrepro skill``."""

import asyncio
import json
import subprocess

import pytest
from conftest import NOISY
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from minrepro._binary import find_binary

SLOW = "import time\n\n\ndef wait(n):\n    time.sleep(n)\n\n\nwait(600)\n"


def served(tmp_path, talk):
    """Speaks to a server of its own."""

    async def speak():
        server = StdioServerParameters(
            command=find_binary(), args=["mcp"], env={"XDG_CACHE_HOME": str(tmp_path / "cache")}
        )
        async with stdio_client(server) as (reader, writer):
            async with ClientSession(reader, writer) as session:
                await session.initialize()
                return await talk(session)

    return asyncio.run(asyncio.wait_for(speak(), 120))


def content(result):
    return json.loads(result.content[0].text)


def test_the_tools_and_what_they_say_of_themselves(tmp_path):
    async def talk(session):
        return (await session.list_tools()).tools

    tools = {tool.name: tool for tool in served(tmp_path, talk)}
    assert tools.keys() == {"check", "minimize", "review", "scrub_dry_run", "report"}
    for tool in tools.values():
        assert len(tool.description) > 50
        fields = tool.model_dump()["input_schema"]["properties"]
        assert all("description" in field for field in fields.values()), fields


def test_a_script_is_checked_minimized_and_reported(tmp_path):
    steps = []

    async def note(progress, total, message):
        steps.append((progress, message))

    async def talk(session):
        early = await session.call_tool("report", {})
        checked = await session.call_tool("check", {"script": NOISY, "runs": 2})
        minimized = await session.call_tool(
            "minimize",
            {"script": NOISY, "signature": "TypeError: Object of type set"},
            progress_callback=note,
        )
        report = await session.call_tool("report", {"form": "markdown"})
        judged = await session.call_tool(
            "check", {"script": NOISY, "candidate": "import json\njson.dumps({1})\n"}
        )
        return early, checked, minimized, report, judged

    early, checked, minimized, report, judged = served(tmp_path, talk)
    assert early.is_error
    assert content(checked)["checked"]["same"] == 2
    answer = content(minimized)
    assert answer["status"] == "reduced" and answer["exit_code"] == 0
    assert "json.dumps(" in answer["text"] and answer["after"]["tokens"] < 15
    assert answer["findings"][0]["holds"]
    runs = [progress for progress, _ in steps]
    assert len(runs) > 2 and runs == sorted(set(runs)) and "tokens" in steps[-1][1]
    assert "### Minimized repro" in report.content[0].text
    assert content(judged)["candidate"]["verified"]


def test_errors_have_fields(tmp_path):
    async def talk(session):
        wrong = await session.call_tool(
            "minimize", {"script": "x = 1\nprint(x)\n", "signature": "ValueError: no"}
        )
        missing = await session.call_tool("check", {"script": "no-such-file.py"})
        option = await session.call_tool("check", {"script": NOISY, "python": "--no-such-option"})
        return wrong, missing, option

    wrong, missing, option = served(tmp_path, talk)
    assert wrong.is_error and content(wrong)["status"] == "not-reproduced"
    assert content(wrong)["error"]["hint"]
    assert missing.is_error and content(missing)["error"]["name"] == "usage"
    assert option.is_error and content(option)["error"]["name"] == "environment"


def test_a_strangers_script_is_reviewed_and_an_issue_is_scrubbed(tmp_path):
    issue = tmp_path / "issue.py"
    issue.write_text(NOISY)

    async def talk(session):
        reviewed = await session.call_tool(
            "review", {"script": "import os\nos.system('rm -rf ~')\n"}
        )
        scrubbed = await session.call_tool("scrub_dry_run", {"from": str(issue)})
        return reviewed, scrubbed

    reviewed, scrubbed = served(tmp_path, talk)
    assert content(reviewed)["findings"] and content(reviewed)["exit_code"] == 6
    assert not reviewed.is_error
    assert "exit_code" in content(scrubbed)


def test_a_cancelled_call_ends_what_it_started(tmp_path):
    def running():
        listed = subprocess.run(["ps", "-wweo", "args"], stdout=subprocess.PIPE, text=True)
        return [line for line in listed.stdout.splitlines() if str(tmp_path) in line]

    async def talk(session):
        script = tmp_path / "slow.py"
        script.write_text(SLOW)
        call = asyncio.create_task(
            session.call_tool(
                "minimize", {"script": str(script), "signature": "timeout", "timeout": "300"}
            )
        )
        while not running():
            await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        for _ in range(1200):
            if not running():
                break
            await asyncio.sleep(0.05)
        assert running() == []
        # The server is there for the next call.
        return await session.call_tool("check", {"script": NOISY, "runs": 1})

    assert content(served(tmp_path, talk))["checked"]["of"] == 1


def test_the_skill_is_a_skill():
    text = subprocess.run(
        [find_binary(), "skill"], check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    _, head, body = text.split("---\n", 2)
    assert head.startswith("name: minrepro\ndescription: ") and "# minrepro" in body
