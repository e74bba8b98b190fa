"""Word alignment: backends with one protocol, symmetrization, and the rescue of pronouns.

    >>> from anaphora.align import align
    >>> align([["the", "house"], ["a", "house"]], [["das", "Haus"], ["ein", "Haus"]])  # doctest: +SKIP

Importing this package imports no backend.
"""

from anaphora.align.aligner import Aligner, SystemAlignments, align, align_systems
from anaphora.align.alignment import Alignment, Point
from anaphora.align.backend import Settings

__all__ = ["Aligner", "Alignment", "Point", "Settings", "SystemAlignments", "align", "align_systems"]
