"""What differs from run to run is open in a proposed pattern, and what says which failure it is stays."""

from __future__ import annotations

import pytest

from gpuhelp.authoring.generalize import LONGEST_REGEX, generalized, plain_words
from gpuhelp.kb import regexes
from gpuhelp.kb.load import KnowledgeBase


def fits(regex: str, line: str) -> bool:
    return regexes.regex(regexes.ready(regex)).search(line) is not None


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (r"no model at C:\Program Files\zeta\a.bin for engine", r"no model at D:\x\b.bin for engine"),
        (r"cannot open share \\nas01\data\set.bin for engine", r"cannot open share /data/y for engine"),
        ("engine stopped at address 0x7f00dead of pool", "engine stopped at address 0x1 of pool"),
        ("zeta.pyd!00007FFE88F378A0: engine stopped here", "zeta.pyd!00007FFD1ED55645: engine stopped here"),
        ("engine lost peer 10.0.0.7 while waiting", "engine lost peer 192.168.1.20 while waiting"),
        ("engine lost host node07 while waiting", "engine lost host gpu-12.lab while waiting"),
        ("engine lost login3.cluster.local while waiting", "engine lost a1.example.com while waiting"),
        ("zeta worker (pid 12345) stopped too early", "zeta worker (pid 7) stopped too early"),
        ("needs engine 1.2.3rc1 or later, build it", "needs engine v2.0+cu121 or later, build it"),
        ("engine wants 2.50 GiB more than there is", "engine wants 512 MiB more than there is"),
        ("the name 'Loop_5471' is unknown to the engine", "the name 'Squeeze' is unknown to the engine"),
        ('the name "conv1" is unknown to the engine', 'the name "fc" is unknown to the engine'),
        ("node Reader_4 was dropped by the engine", "node Reader_17 was dropped by the engine"),
        ("bad shape [3, 224, 224] for this engine", "bad shape [1, 8] for this engine"),
        (
            "engine stopped /home/user/src/zeta.hpp:106 before start",
            "engine stopped /opt/zeta.hpp:99 before start",
        ),
    ],
)
def test_the_same_failure_of_another_run_fits(knowledge: KnowledgeBase, line: str, other: str) -> None:
    found = generalized(line, knowledge.table("variables")["variables"])
    assert fits(found.regex, line), found.regex
    assert fits(found.regex, other), found.regex
    assert not fits(found.regex, "another program says something else")


@pytest.mark.parametrize(
    ("line", "captured"),
    [
        ("engine of rank 3 lost port 29500 and stopped", {"rank": "3", "port": "29500"}),
        ("engine on device 2 failed to allocate 2.5 GiB here", {"gpu_index": "2", "requested": "2.5 GiB"}),
        ("engine got cuda:0 and cuda:1 in one call", {"device_a": "cuda:0", "device_b": "cuda:1"}),
        ("engine ended by signal 9 with exit code 137 early", {"signal": "9", "exit_code": "137"}),
        ("engine of world_size=8 cannot load libzeta.so.2", {"world_size": "8", "library": "libzeta.so.2"}),
        ("engine error: (-216:No zeta support) in this build", {"error_code": "-216"}),
        ("engine at gpu7.cluster.local:29501 went away early", {"port": "29501"}),
    ],
)
def test_values_with_a_name_in_the_contract_are_captured(
    knowledge: KnowledgeBase, line: str, captured: dict[str, str]
) -> None:
    found = generalized(line, knowledge.table("variables")["variables"])
    assert dict(found.captured) == captured
    matched = regexes.regex(regexes.ready(found.regex)).search(line)
    assert matched is not None
    assert matched.groupdict() == captured


def test_an_hresult_says_which_failure_it_is_and_stays(knowledge: KnowledgeBase) -> None:
    found = generalized(
        "Exception(1) tid(4a14) 80070057 The parameter", knowledge.table("variables")["variables"]
    )
    assert "80070057" in found.regex
    assert fits(found.regex, "Exception(3) tid(7118) 80070057 The parameter")


def test_a_long_line_is_cut_after_a_whole_word(knowledge: KnowledgeBase) -> None:
    line = "the zeta engine stopped because " + "something unusual happened " * 20
    found = generalized(line, knowledge.table("variables")["variables"])
    assert len(found.regex) <= LONGEST_REGEX
    assert found.regex.split()[-1] in ("something", "unusual", "happened")
    assert fits(found.regex, line)


def test_a_time_in_front_and_an_open_end_are_left_out(knowledge: KnowledgeBase) -> None:
    line = "[E 06/17/20 14:42:17.324] zeta engine stopped while loading 17"
    found = generalized(line, knowledge.table("variables")["variables"])
    assert found.regex == "zeta engine stopped while loading"


def test_a_type_that_says_nothing_is_left_out_where_enough_is_left(knowledge: KnowledgeBase) -> None:
    variables = knowledge.table("variables")["variables"]
    assert generalized("RuntimeError: the zeta engine stopped", variables).regex == "the zeta engine stopped"
    assert generalized("RuntimeError: zeta stopped", variables).regex == "RuntimeError: zeta stopped"


def test_plain_words_are_those_of_every_run(knowledge: KnowledgeBase) -> None:
    words = plain_words("engine 'x1' stopped at 0xff", knowledge.table("variables")["variables"])
    assert words == ["engine", "stopped", "at"]
