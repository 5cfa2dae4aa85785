"""The bar while large files are read: not before a second, gone at the end, no matter what names hold."""

from __future__ import annotations

from io import StringIO

from gpuhelp.rendering.progress import ReadingProgress


class Clock:
    """A clock that the test sets."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Screen(StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_for_what_is_read_within_a_second() -> None:
    screen, clock = Screen(), Clock()
    with ReadingProgress(screen, clock) as progress:
        progress.begin("train.log", 1000)
        clock.now_s = 0.9
        progress.advance(1000)
    assert screen.getvalue() == ""


def test_after_a_second_the_bar_names_the_file_and_how_far_it_is_read() -> None:
    screen, clock = Screen(), Clock()
    with ReadingProgress(screen, clock) as progress:
        progress.begin("train.log", 4_000_000)
        clock.now_s = 1.1
        progress.advance(1_000_000)
        progress.advance(2_000_000)
    shown = screen.getvalue()
    assert "train.log" in shown
    assert "2.0/4.0 MB" in shown
    assert shown.endswith("\x1b[2K") or "\x1b[1A\x1b[2K" in shown  # taken away


def test_the_size_of_a_pipe_is_not_known_and_names_are_no_markup() -> None:
    screen, clock = Screen(), Clock()
    with ReadingProgress(screen, clock) as progress:
        clock.now_s = 2.0
        progress.begin("[bold]" + "x" * 100 + "end.log", None)
        progress.advance(3_000_000)
    shown = screen.getvalue()
    assert "end.log" in shown
    assert "x" * 60 not in shown


def test_a_name_steers_no_terminal() -> None:
    screen, clock = Screen(), Clock()
    with ReadingProgress(screen, clock) as progress:
        progress.begin("\x9b5m\x1b]0;owned\x07.log", 4_000_000)
        clock.now_s = 1.1
        progress.advance(1_000_000)
    assert "\x9b" not in screen.getvalue()
    assert "\x1b]0" not in screen.getvalue()
