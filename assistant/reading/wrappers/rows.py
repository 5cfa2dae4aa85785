"""The table of wrappers: what loggers, launchers, containers and kernels put in front of a line.

A row says how a line begins that may carry the wrapper, the expression that takes it off, and by the names of
its groups what it tells. Rows are tried in this order; the first that matches is taken off, then again.
The expressions have no nested repetition without a bound, so a hostile line costs no more than its length.
"""

from __future__ import annotations

from typing import NamedTuple

LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|TRACE|SUCCESS)"
_PARTS = {
    "%DATE%": r"\d{4}[-/]\d\d[-/]\d\d[T :]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?",
    "%CLOCK%": r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?",
    "%US_DATE%": r"\d\d/\d\d/\d{4}[ -]\d\d:\d\d:\d\d",
    "%SHORT_DATE%": r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d",
    "%BSD_TIME%": r"%MONTH% [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?",
    "%MONTH%": r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    "%CTIME%": (  # in any language: `Tue Mar  5`, `화  3월  5`, `mar. mars  5`
        r"[^\W\d_]{1,10}\.? {1,3}(?:\d{1,2} {0,2})?[^\W\d_]{1,10}\.? {1,3}\d{1,2} \d\d:\d\d:\d\d"
        r"(?: [A-Z]{3,4})? \d{4}"
    ),
    "%LEVEL%": LEVEL,
    "%HOST%": r"(?P<host>[A-Za-z0-9][\w.-]{0,63})",
    "%TAG%": r"(?:kernel|[\w./@()-]{1,80}\[(?P<pid>\d{1,10})\]): ",
    "%PLACE%": r"[\w./<>-]{1,120}:\d{1,6}",
    "%RUST%": r"text_generation_\w{3,20}(?:::\w{1,40}){0,4}: (?:[\w/.-]{1,120}\.rs:\d{1,6}: )?",
}
"""Parts that many rows share, by the names under which they stand there."""


class Row(NamedTuple):
    """One wrapper: its first characters, the classes of its second ones (empty for any), its expression.

    Classes: `A` capitals, `a` small letters, `0` digits, `*` not ASCII, others stand for themselves. Groups:
    rank (the global one), label (a number that is the rank as a rule), local (a rank within a machine or a
    group), host, time, pid, level, stream. Neighbours with the same `head` share it: it is tried once.
    """

    first: str
    second: str
    expression: str
    head: str = ""


def expanded(expression: str) -> str:
    """The expression with all its parts."""
    for name, part in _PARTS.items():
        expression = expression.replace(name, part)
    return expression


_DIGITS = "0123456789"
_LEVELS = "DIWECTFNS"
_MONTHS = "JFMASOND"
_DATED = r"(?P<time>%DATE%)"
_BSD_DATED = r"(?P<time>%BSD_TIME%)"
ROWS = (
    Row(">", "", r"(?:> ?){1,3}"),
    # launchers: torchrun, Lightning, mpirun (4 and 5, XML too), SageMaker
    Row("[", "a", r"\[(?:rank(?P<rank>\d{1,5})|(?:default|trainer|worker)(?P<local>\d{1,5}))\](?:: ?| )?"),
    Row("[", "a", r"\[rank: (?P<rank>\d{1,5})\] ?"),
    Row("dr", "a", r"(?:rank(?P<rank>\d{1,5})|default(?P<local>\d{1,5})): ?"),
    Row(
        "[",
        "0aA",
        r"\[(?:[\w.-]{1,80}@)?\d{1,6},(?:(?P<rank>\d{1,5})|mpirank:(?P<rank>\d{1,5}),(?P<host>[\w.-]{1,63}))\]"
        r"(?:\[(?P<host>[\w.-]{1,63}):(?P<pid>\d{1,10})\])?<(?P<stream>std(?:out|err|diag))>: ?",
    ),
    Row("[", "0", r"\[(?P<rank>\d{1,5})\]<(?P<stream>std(?:out|err|diag))>: ?"),
    Row("[", "A", r"\[(?P<time>%CTIME%)\](?:<(?P<stream>std(?:out|err))>: |(?=\[))"),
    Row(
        "<",
        "a",
        r"<(?P<stream>std(?:out|err))(?: (?:nspace|jobid)=\"[^\"]{0,80}\")?"
        r" rank=\"(?P<rank>\d{1,5})\"[^>]{0,120}>",
    ),
    # PyTorch's C++ side, NeMo
    Row("[", "A", r"\[(?P<level>[EWIF])\d{3,4} (?P<time>\d\d:\d\d:\d\d\.\d{1,9}) %PLACE%\] ?"),
    Row("[", "A", r"\[(?P<level>[EWIF]) [\w./-]{1,120}\.(?:cpp|cc|hpp|h|cu):\d{1,6}\] ?"),
    Row("[", "A", r"\[NeMo (?P<level>[EWIDC]) (?P<time>%DATE%) %PLACE%\] ?"),
    # times in brackets: SGLang, DeepSpeed, TensorRT-LLM, rich
    Row(
        "[",
        "0",
        r"\[(?P<time>%DATE%)(?: (?:DP|PP|EP|CP)\d{1,4}){0,3}"
        r"(?: TP(?P<local>\d{1,4})(?: (?:DP|PP|EP|CP)\d{1,4}){0,3}| [A-Z][a-z]{1,20})?\] ?"
        r"(?:%LEVEL%: (?=\S))?",
    ),
    Row("[", "0", r"\[(?P<time>%CLOCK%)(?: DP\d{1,4})? TP(?P<local>\d{1,4})\] ?"),
    Row(
        "[",
        "0",
        r"\[(?P<time>%US_DATE%)\] ?(?:\[TRT(?:-LLM)?\] )?(?:\[(?:MPI_Rank|RANK) (?P<rank>\d{1,5})\] )?"
        r"(?:\[(?P<level>[EWIFV])\] ?)?",
    ),
    Row("[", "0", r"\[(?P<time>%SHORT_DATE%|%CLOCK%)\] (?P<level>%LEVEL%) +(?=\S)"),
    # levels, places and ranks in brackets: TensorRT-LLM, Transformers, LLaMA-Factory, Hydra, axolotl
    Row(
        "[",
        "A",
        r"\[(?:TensorRT-LLM|TRT-LLM|TRT)\] ?(?:\[(?:MPI_Rank|RANK) (?P<rank>\d{1,5})\] )?"
        r"\[(?P<level>%LEVEL%|[EWIFV])\] ?",
    ),
    Row("[", "A", r"\[(?P<level>%LEVEL%)\|[\w.]{1,80}:\d{1,6}\] (?P<time>%DATE%) >> ?"),
    Row("[", "A", r"\[(?P<level>%LEVEL%)\|(?P<time>%DATE%)\] [\w.]{1,80}:\d{1,6} >> ?"),
    Row("[", "A ", r"\[ ?(?P<level>%LEVEL%) ?\](?: - | ?:? ?)"),
    Row("[", "aA/_.", r"\[[\w./-]{1,120}\.py:\d{1,6}(?::[\w<>]{1,80})?\] ?"),
    Row("[", "a", r"\[[a-z_]{1,40}\.[\w.]{1,80}:\d{1,6}\] ?"),
    Row("[", "aA", r"\[(?:[Rr]ank |RANK[: ])(?P<label>\d{1,5})\] ?"),
    Row("[", "A", r"\[PID:(?P<pid>\d{1,10})\] ?"),
    # the kernel: seconds since boot with the caller, deltas, times of day in any language
    Row(
        "[",
        " 0",
        r"\[ {0,7}(?P<time>\d{1,10}\.\d{6})(?: <[ \d.]{6,20}>)?\](?: ?\[ {0,6}[TC]\d{1,8}\])? ?"
        r"(?:(?P<host>[A-Za-z][\w.-]{0,62}) %TAG%)?",
    ),
    Row("[", " ", r"\[ {1,4}[+<][ \d.]{6,20}>?\] ?"),
    Row("[", "Aa*", r"\[(?P<time>%CTIME%)\] ?"),
    Row("[", "A", r"\[(?P<time>%MONTH% {1,2}\d{1,2} \d\d:\d\d)\] "),
    Row("k", "a", r"kern {1,6}:(?P<level>[a-z]{3,7}) {0,3}: ?"),
    # syslog's priorities: RFC 5424, RFC 3164
    Row(
        "<",
        "0",
        r"<(?P<level>\d{1,3})>1 (?P<time>%DATE%) %HOST% \S{1,48} (?:(?P<pid>\d{1,10})|\S{1,128}) \S{1,32}"
        r" (?:-|\[[^\]\n]{1,400}\]) ?",
    ),
    Row("<", "0", r"<(?P<level>\d{1,3})>(?=\[| ?%MONTH%|\d{4}-|[A-Z])"),
    # Kubernetes, processes by number, Hydra
    Row("[", "a", r"\[pod/(?P<host>[\w.-]{1,253})/[\w.-]{1,80}\] ?"),
    # not Numba's code of a driver call: "[802] Call to cuInit results in UNKNOWN_CUDA_ERROR"
    Row("[", "0", r"\[(?P<pid>\d{2,8})\] (?!Call to cu[A-Z])"),
    Row("[", "_a", r"\[(?:__main__|[a-z_]{1,40}(?:\.[a-z_]{1,40}){1,8})\]"),
    # Ray and vLLM
    Row(
        "(",
        "",
        r"\((?:\w{1,40}_TP(?P<local>\d{1,4})\w{0,20} |[^()\n]{1,160}? )?"
        r"(?:rank=(?P<label>\d{1,5}) )?pid=(?P<pid>\d{1,10})(?:, ip=(?P<host>[\d.a-f:]{3,45}))?\) ?",
    ),
    Row(
        "(",
        "a",
        r"\((?:raylet|gcs_server|autoscaler)(?: [^()\n]{1,40})?(?:, ip=(?P<host>[\d.a-f:]{3,45}))?\) ?",
    ),
    Row(
        _LEVELS,
        "A",
        r"(?P<level>%LEVEL%) (?P<time>\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?) \[?%PLACE%\] ?",
    ),
    # Python's logging, loguru
    Row(_LEVELS, "A", r"(?P<level>%LEVEL%):[A-Za-z_][\w.]{0,80}:"),
    Row(_LEVELS, "A", r"(?P<level>%LEVEL%) {0,4}\| (?:[\w.:<>-]{1,120} - )?"),
    # glog, TensorFlow, absl; torch's own loggers; TorchServe; text-generation-inference
    Row(
        "EWIF",
        "0",
        r"(?P<level>[EWIF])\d{4} (?P<time>\d\d:\d\d:\d{2,12}\.\d{1,9}) +(?P<pid>\d{1,10}) %PLACE%\] ?",
    ),
    # the place stays: TensorFlow's copy of XLA and JAX's say the same from other folders
    Row("EWIF", " ", r"(?P<level>[EWIF]) (?=[\w./-]{1,160}\.(?:cc|h|cpp):\d{1,6}\] )"),
    Row("t", "a", r"torch\.[\w.]{1,80}: \[(?P<level>%LEVEL%)\] ?"),
    Row(
        "WP", "-a", r"(?:PyProcess - )?W-\d{1,6}-[\w.-]{1,80}-(?P<stream>std(?:out|err))(?: MODEL_LOG -|:) ?"
    ),
    Row("t", "a", r"%RUST%"),
    # syslog, journald (`3월 05`, short-full), moreutils' ts
    Row(_MONTHS, "a", r" %HOST% [\w./@()-]{1,80}(?:\[(?P<pid>\d{1,10})\])?: ", _BSD_DATED),
    Row(_MONTHS, "a", r" (?=\S)", _BSD_DATED),
    Row(" " + _DIGITS, "0*", r" ?(?P<time>\d{1,2}[월月] {1,2}\d{1,2} \d\d:\d\d:\d\d) %HOST% %TAG%"),
    Row("MTWFS", "a", r"(?P<time>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) %DATE%(?: [A-Z]{3,4})) %HOST% %TAG%"),
    # plain dates: logging's forms, syslog, Ray, Kubernetes, GitLab
    Row(_DIGITS, "0", r" - (?:[\w.-]{1,80} - )?(?P<level>%LEVEL%) - ?", _DATED),
    Row(_DIGITS, "0", r" %HOST% %TAG%", _DATED),
    Row(
        _DIGITS,
        "0",
        r"[ \t]+(?P<level>%LEVEL%)(?: {1,8}\[?[\w.<>-]{1,80}:\d{1,6}\]?(?: --?|:)?)? +(?=[^\s|])"
        r"(?:(?:[a-z][\w-]{0,40}(?:\{[^{}\n]{0,300}\})?:){0,8} ?%RUST%)?",
        _DATED,
    ),
    Row(_DIGITS, "0", r" (?P<stream>std(?:out|err)) [FP](?: |$)", _DATED),
    Row(_DIGITS, "0", r" \d\d[OE][+ ]", _DATED),
    Row(_DIGITS, "0", r"[:\]]?[ \t]?(?:- |\| )?", _DATED),
    Row(_DIGITS, "0", r"(?P<time>%US_DATE%) - (?P<level>%LEVEL%) - +(?:[\w.]{1,80} - +)?"),
    Row(_DIGITS, "0", r"(?P<time>%SHORT_DATE%) (?P<level>%LEVEL%) [\w.$]{1,80}: "),
    Row(_DIGITS, "0", r"(?P<time>%CLOCK%) (?=\[|%LEVEL%|-)"),
    # docker build, GitHub's and Azure's own lines
    Row("#", "0", r"#\d{1,4} \d{1,6}\.\d{1,4} "),
    Row("#", "#", r"##\[(?P<level>error|warning|debug|notice|command|section)\]"),
)
