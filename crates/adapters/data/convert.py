#!/usr/bin/env python3
"""Writes uap-core.json from an unpacked wheel of ua-parser-builtins."""

import json
import sys
import types

class Parser:
    def __init__(self, *values):
        self.values = values

# The wheel builds objects of ua-parser, which need not be installed for this.
stub = types.ModuleType("ua_parser.user_agent_parser")
stub.UserAgentParser = stub.OSParser = stub.DeviceParser = Parser
sys.modules["ua_parser"] = types.ModuleType("ua_parser")
sys.modules["ua_parser.user_agent_parser"] = stub
sys.path.insert(0, sys.argv[1])
from ua_parser_builtins.regexes import OS_PARSERS, USER_AGENT_PARSERS

def lines(parsers, names):
    entries = (
        {name: value for name, value in zip(names, parser.values) if value is not None}
        for parser in parsers
    )
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)

def names(first, rest):
    return ["regex", first] + [f"{rest}v{n}_replacement" for n in range(1, 5)]

browsers = lines(USER_AGENT_PARSERS, names("family_replacement", ""))
systems = lines(OS_PARSERS, names("os_replacement", "os_"))
print(f'{{"user_agent_parsers": [\n{browsers}\n],\n"os_parsers": [\n{systems}\n]}}')
