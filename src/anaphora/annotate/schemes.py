"""Conversion of label schemes to Universal Dependencies; nothing else depends on a tool's own labels and trees.

Three schemes are recognized by the labels of a parser: UD itself (Stanza, spaCy's French and many others), ClearNLP's
(spaCy's `en_core_web`) and TIGER's (spaCy's `de_core_news`). The latter two let function words govern content words,
which `promote` reverses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from anaphora.annotate.document import Token, Tree, promote

Scheme = str  # "ud", "clearnlp" or "tiger"

NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "X"})
VERBAL = frozenset({"VERB", "AUX"})

# UD version 1, in older models
UD = {"ROOT": "root", "dobj": "obj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass"}
UD |= {"neg": "advmod", "mwe": "fixed", "name": "flat", "foreign": "flat", "remnant": "orphan"}

CLEARNLP = UD | {
    "acomp": "xcomp",
    "agent": "obl:agent",
    "attr": "xcomp",
    "dative": "iobj",
    "intj": "discourse",
    "meta": "dep",
    "npadvmod": "obl",
    "oprd": "xcomp",
    "pcomp": "advcl",
    "pobj": "obl",
    "poss": "nmod:poss",
    "preconj": "cc:preconj",
    "predet": "det:predet",
    "prep": "obl",
    "prt": "compound:prt",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
}

TIGER = {
    "ROOT": "root",
    "ac": "case",
    "adc": "compound",
    "ag": "nmod",
    "ams": "obl",
    "app": "appos",
    "avc": "advmod",
    "cc": "obl",
    "cd": "cc",
    "cj": "conj",
    "cm": "case",
    "cp": "mark",
    "cvc": "obl",
    "da": "obl:arg",
    "dm": "discourse",
    "ep": "expl",
    "ju": "cc",
    "mnr": "nmod",
    "mo": "obl",
    "ng": "advmod",
    "nmc": "flat",
    "oa": "obj",
    "oa2": "obj",
    "oc": "xcomp",
    "og": "obl:arg",
    "op": "obl:arg",
    "par": "parataxis",
    "pd": "xcomp",
    "pg": "nmod",
    "ph": "expl",
    "pm": "mark",
    "pnc": "flat",
    "punct": "punct",
    "rc": "acl:relcl",
    "re": "ccomp",
    "rs": "ccomp",
    "sb": "nsubj",
    "sbp": "obl:agent",
    "sp": "nsubj",
    "svp": "compound:prt",
    "vo": "vocative",
}
# relations of dependents of nouns without a label of their own, by part of speech
BELOW_NOUN = {"DET": "det", "ADJ": "amod", "NUM": "nummod", "ADV": "advmod", "PROPN": "flat", "VERB": "acl"}
MODIFIERS = {"ADV": "advmod", "ADJ": "advmod", "PART": "advmod", "VERB": "advcl", "AUX": "advcl"}
DONE = "="

# parts of speech by the prefix of a tag, longest first, for tools with only Penn or STTS tags
PENN = {"NNP": "PROPN", "NN": "NOUN", "PRP$": "PRON", "PRP": "PRON", "WP": "PRON", "DT": "DET", "PDT": "DET"}
PENN |= {"WDT": "PRON", "VB": "VERB", "MD": "AUX", "JJ": "ADJ", "RB": "ADV", "WRB": "ADV", "RP": "ADP", "IN": "ADP"}
PENN |= {"TO": "PART", "POS": "PART", "CC": "CCONJ", "CD": "NUM", "EX": "PRON", "UH": "INTJ", "SYM": "SYM", "$": "SYM"}
STTS = {"NN": "NOUN", "NE": "PROPN", "PPOSAT": "DET", "PDAT": "DET", "PIAT": "DET", "PIDAT": "DET", "PWAT": "DET"}
STTS |= {"PRELAT": "DET", "PAV": "ADV", "PROAV": "ADV", "PWAV": "ADV", "PTKZU": "PART", "PTKNEG": "PART", "P": "PRON"}
STTS |= {"PTKVZ": "ADP", "PTKANT": "INTJ", "PTKA": "ADV", "ART": "DET", "ADJ": "ADJ", "ADV": "ADV", "AP": "ADP"}
STTS |= {"VA": "AUX", "VM": "AUX", "VV": "VERB", "KOU": "SCONJ", "KOKOM": "CCONJ", "KON": "CCONJ", "CARD": "NUM"}
STTS |= {"ITJ": "INTJ", "TRUNC": "X", "FM": "X", "XY": "X"}


def scheme_of(labels: Iterable[str]) -> Scheme:
    """The scheme of the labels of a parser."""
    known = set(labels)
    return "tiger" if "sb" in known else "clearnlp" if "pobj" in known else "ud"


def universal(tokens: Sequence[Token], scheme: Scheme) -> tuple[Token, ...]:
    """The tokens with the labels and trees of Universal Dependencies."""
    tags = STTS if scheme == "tiger" else PENN
    known = [t if t.upos else replace(t, upos=_upos(t, tags)) for t in tokens]
    tree = Tree([t.head for t in known], [t.relation for t in known])
    if scheme == "tiger":
        _tiger(known, tree)
    elif scheme == "clearnlp":
        _clearnlp(known, tree)
    else:
        tree.relations[:] = [UD.get(relation, relation) for relation in tree.relations]
    return tuple(
        t if t.head == head and t.relation == relation else replace(t, head=head, relation=relation)
        for t, head, relation in zip(known, tree.heads, tree.relations, strict=True)
    )


def _clearnlp(tokens: Sequence[Token], tree: Tree) -> None:
    """Objects over their prepositions, predicates over the copula."""
    for i, token in enumerate(tokens):
        head = tree.heads[i]
        if head is None:
            continue
        relation, above = tree.relations[i], tree.relations[head]
        if relation == "pobj" and above in ("prep", "agent", "dative"):
            promote(tree, i, "case")
            tree.relations[i] = "agent" if above == "agent" else _adverbial(tokens, tree, i)
        elif relation in ("attr", "acomp") and tokens[head].lemma == "be" and token.upos not in VERBAL:
            promote(tree, i, "cop")
    tree.relations[:] = [CLEARNLP.get(relation, relation) for relation in tree.relations]


def _tiger(tokens: Sequence[Token], tree: Tree) -> None:
    """Nouns over their prepositions, verbs over auxiliaries, predicates over `sein`, conjuncts over conjunctions.

    Relations that are UD's already have DONE before them: `cc` is a comparison in TIGER.
    """
    for i, token in enumerate(tokens):
        while (head := tree.heads[i]) is not None:
            relation, above, over = tree.relations[i], tree.relations[head], tokens[head]
            if relation == "nk" and over.upos == "ADP" and token.upos in NOMINAL:
                promote(tree, i, DONE + "case")
                if above in ("mo", "mnr", "nk"):
                    tree.relations[i] = DONE + _adverbial(tokens, tree, i)
            elif relation == "oc" and over.upos == "AUX" and token.upos in VERBAL:
                promote(tree, i, DONE + "aux")
            elif relation == "pd" and over.lemma == "sein" and token.upos not in VERBAL:
                promote(tree, i, DONE + "cop")
            elif relation == "cj" and above == "cd":
                promote(tree, i, DONE + "cc")
                tree.relations[i] = "cj"
            else:
                break
    tree.relations[:] = [_tiger_relation(r, token) for r, token in zip(tree.relations, tokens, strict=True)]


def _tiger_relation(relation: str, token: Token) -> str:
    if relation.startswith(DONE):
        return relation.removeprefix(DONE)
    if relation == "nk":
        possessive = token.upos in ("DET", "PRON") and (token.features.get("Poss") == "Yes" or token.xpos == "PPOSAT")
        return "det:poss" if possessive else BELOW_NOUN.get(token.upos, "nmod")
    if relation == "mo":
        return MODIFIERS.get(token.upos, "obl")
    if relation == "sb" and token.upos in VERBAL:
        return "csubj"
    if relation == "oc" and token.features.get("VerbForm") == "Fin":
        return "ccomp"
    return TIGER.get(relation, "dep")


def _adverbial(tokens: Sequence[Token], tree: Tree, index: int) -> str:
    """The relation of a prepositional phrase: nmod of a noun, obl of a verb or adjective."""
    head = tree.heads[index]
    return "nmod" if head is not None and tokens[head].upos in NOMINAL else "obl"


def _upos(token: Token, tags: Mapping[str, str]) -> str:
    for length in range(len(token.xpos), 0, -1):
        if upos := tags.get(token.xpos[:length]):
            return upos
    return "X" if any(c.isalnum() for c in token.text) else "PUNCT"
