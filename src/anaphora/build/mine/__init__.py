"""Contrastive test sets mined from parallel documents (ContraPro, Müller et al. 2018, §3.1).

read → annotate → align → link → filter → contrast → balance: what is a matter of one document (link, filter, contrast)
is a phenomenon's; all around it is the same for every phenomenon.
"""

from __future__ import annotations

from anaphora.core.registry import Registry

OURS = {"pronouns": "anaphora.build.mine.pronouns:Pronouns"}
PHENOMENA = Registry("phenomenon", OURS)
