"""The slow truth of captures: what FORMAT.md says of them, read decision by decision with Python's numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

Link = tuple[int, int]  # target, attribute


class Capture(NamedTuple):
    """A capture as it is read."""

    page: int
    day: int
    facts: int
    lead: int | None
    before: int
    links: list[Link]


@dataclass
class Decoder:
    """A stream of units, and chances by the name of what they decide."""

    units: list[int]
    limit_of_days: int = 30
    chances: dict[object, tuple[int, int]] = field(default_factory=dict)
    taken: int = 3
    range: int = 1 << 48
    code: int = 0

    def __post_init__(self) -> None:
        first, second, third = self.units[:3]
        self.code = first << 32 | second << 16 | third

    def _keep(self, low: int, size: int) -> None:
        self.code, self.range = self.code - low, size
        while self.range < 1 << 32:
            self.code, self.range = self.code << 16 | self.units[self.taken], self.range << 16
            self.taken += 1

    def bit(self, *name: object, limit: int = 255) -> bool:
        """A decision."""
        zero, seen = self.chances.get(name, (1 << 21, 0))
        zeros, rate = (self.range >> 22) * zero, (1 << 17) // (2 * seen + 3)
        one = self.code >= zeros
        moved = zero + (-(zero * rate >> 16) if one else ((1 << 22) - zero) * rate >> 16)
        self.chances[name] = moved, min(seen + 1, limit)
        self._keep(*((zeros, self.range - zeros) if one else (0, zeros)))
        return one

    def place(self, weights: list[int]) -> int:
        """The number of one of several things, by their weights."""
        each = self.range // sum(weights)
        at, number = 0, 0
        while self.code >= (at + weights[number]) * each and number < len(weights) - 1:
            at, number = at + weights[number], number + 1
        self._keep(at * each, weights[number] * each)
        return number

    def raw(self, bits: int) -> int:
        """A number of so many bits."""
        value = 0
        while bits:
            some = min(bits, 16)
            each = self.range >> some
            piece = self.code // each
            self._keep(piece * each, each)
            value, bits = value << some | piece, bits - some
        return value

    def number(self, *name: object) -> int:
        """A number from 0 on."""
        size = 0
        while size < 32 and self.bit(*name, "longer", size):
            size += 1
        value, learnt = 1, min(size, 3)
        for _ in range(learnt):
            value = value << 1 | self.bit(*name, "bit", size, value)
        return (value << (size - learnt) | self.raw(size - learnt)) - 1


def size_class(links: int) -> int:
    """A class of numbers of links."""
    if links < 16:
        return links
    length = links.bit_length()
    return min(16 + 2 * (length - 5) + (links >> (length - 2) & 1), 31)


@dataclass
class Reader:
    """Reads one chunk."""

    decoder: Decoder
    crawls: list[range]  # the days of each
    weights: list[int]  # of each page

    def captures(self, low: int, references: list[list[Link]]) -> list[Capture]:
        """All captures of pages from `low` on, whose links in the store are given."""
        read, found, facts, unusual = self.decoder, list[Capture](), 0, False
        for page, stored in enumerate(references, low):
            reference, day, partials, lead, edits = stored, -1, 0, None, 0
            for number in range(read.number("records")):
                state = 0 if number == 0 else min(1 + edits.bit_length(), 3)
                changed = read.bit("changed", state, size_class(len(reference)))
                unusual, leads = read.bit("unusual", unusual), False
                if unusual:
                    facts = read.raw(56) if read.bit("other facts") else facts
                    leads = read.bit("leads")
                    if leads:
                        lead = read.raw(32) if read.bit("other lead") else lead
                before = 0
                if facts & 1:
                    own_day, partials = read.number("partial day"), partials + 1
                else:
                    own_day = day = self.day(day)
                    before = read.number("partials") if partials else 0
                links, edits = self.edit(page, reference, edits) if changed else (reference, 0)
                found.append(Capture(page, own_day, facts, lead if leads else None, before, links))
                reference = links or reference
        assert read.taken == len(read.units)
        return found

    def day(self, newer: int) -> int:
        """The day of a capture."""
        read = self.decoder
        if newer < 0:
            days = self.crawls[len(self.crawls) - 1 - read.number("first crawl")]
        else:
            [own] = [number for number, days in enumerate(self.crawls) if newer in days]
            back = read.number("crawls")
            if not back:
                return newer - read.number("gap")
            days = self.crawls[own - back]
        while len(days) > 1:
            middle = (days.start + days.stop) // 2
            later = read.bit("day", middle, limit=read.limit_of_days)
            days = range(middle, days.stop) if later else range(days.start, middle)
        return days[0]

    def edit(self, page: int, old: list[Link], edits_before: int) -> tuple[list[Link], int]:
        """The links of a capture, and how many edits made them of the reference."""
        read, new, edits, resumed, shift = self.decoder, list[Link](), 0, False, 0
        left = list(old)

        def moved(link: Link) -> Link:
            return (link[0], link[1] + shift) if link[1] % (1 << 24) else link

        while left:
            before = min(edits_before.bit_length(), 3)
            if not read.bit("not copied", before, ("resumed", resumed) if edits else size_class(len(left))):
                new.append(moved(left.pop(0)))
                resumed = False
                continue
            skipped, added, more = 1, 1, 0
            if read.bit("unlike"):
                skipped = read.number("skipped")
                added = read.number("added", min(skipped, 7))
                if read.bit("shifts"):
                    zigzag = read.number("shift")
                    more = -(zigzag + 1) // 2 if zigzag % 2 else zigzag // 2
            instead = [moved(link) for link in left[:skipped]]
            self.add(page, new, added, left, instead)
            del left[:skipped]
            shift, edits, resumed = shift + more, edits + 1, True
        added = read.number("at end", edits > 0)
        self.add(page, new, added, [], [])
        return new, edits + (added > 0)

    def add(self, page: int, new: list[Link], count: int, left: list[Link], instead: list[Link]) -> None:
        """Read links that are added."""
        read = self.decoder
        for at in range(count):
            before, last = new[-1] if new else (page, 0)
            place = left[at][0] if at < len(left) else page
            target = self.target(page, before, place)
            attribute = instead[at][1] if at < len(instead) else last
            if read.bit("attribute", 0):
                attribute = last
                if read.bit("attribute", 1):
                    attribute = read.raw(32) if read.bit("attribute", 2) else last + 1
            new.append((target, attribute))

    def target(self, *origins: int) -> int:
        """The target of a link that is added."""
        read, which = self.decoder, 0
        if read.bit("origin", 0):
            which = 2 if read.bit("origin", 1) else 1
        step = 1
        for _ in range(6):
            step = step << 1 | read.bit("step", which, step)
        upwards, power = divmod(step - 64, 32)
        steps = range(1 << power, 2 << power)
        pages = (
            [origins[which] + each for each in steps] if upwards else [origins[which] - each for each in steps][::-1]
        )
        pages = [each for each in pages if 0 <= each < len(self.weights)]
        return pages[0] if len(pages) == 1 else pages[read.place([self.weights[each] for each in pages])]
