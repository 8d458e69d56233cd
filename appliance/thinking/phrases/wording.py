"""What the languages have in common when they word something."""

from collections.abc import Sequence


def capital(text: str) -> str:
    """As a sentence begins."""
    return text[:1].upper() + text[1:]


def listed(items: Sequence[str], last: str) -> str:
    """ "one, two and three", with `last` for the "and"."""
    *first, final = items
    return f"{', '.join(first)} {last} {final}" if first else final


def parts(seconds: int) -> Sequence[tuple[int, int]]:
    """Hours, minutes and seconds (as 0, 1 and 2) with how many of them, without those of which there are none."""
    hours, rest = divmod(seconds, 3600)
    counts = (hours, *divmod(rest, 60))
    return [(unit, count) for unit, count in enumerate(counts) if count]
