"""Where names are written: beside each other, not over each other."""

from __future__ import annotations

from cocite.results.pictures.neighbourhood import CITING, Frame, Node, Picture, labels

FRAME = Frame("test", 400, 200, 100, 50, 24, 18)


def called(node: Node, longest: int) -> str:
    return "x" * longest


def written(*spots: tuple[float, float], frame: Frame = FRAME) -> list[tuple[int, float]]:
    picture = Picture(tuple(Node(CITING, at, "", "", at + 1) for at in range(len(spots))), ())
    return [(len(name.text), name.y) for name in labels(picture, spots, frame, called)]


def test_names_give_way() -> None:
    """Eighteen letters are 126 wide, nine of them half. Names in the upper half stand above if they can."""
    assert written((100, 50), (300, 50)) == [(18, 33), (18, 33)]
    assert written((100, 50), (150, 50)) == [(18, 33), (18, 77)]
    assert written((100, 50), (150, 50), (200, 50)) == [(18, 33), (18, 77), (9, 33)]
    assert written((100, 50), (110, 50), (120, 50))[2] == (9, 33)  # no room at all
    assert written((100, 50), (110, 50), frame=FRAME._replace(linking_chars=0)) == [(0, 33), (0, 33)]
