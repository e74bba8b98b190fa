"""Dependency trees that are being rebuilt: a content word changes places with the function word above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tree:
    """Heads (None for a root) and relations, one each per token; changed in place."""

    heads: list[int | None]
    relations: list[str]


def promote(tree: Tree, child: int, function: str) -> None:
    """Put a word in the place of its head, which becomes its dependent with this function, as do the others below it.

    >>> tree = Tree([1, None, 1], ["nsubj", "root", "pd"])  # It is old
    >>> promote(tree, 2, "cop")
    >>> tree.heads, tree.relations
    ([2, 2, None], ['nsubj', 'cop', 'root'])
    """
    parent = tree.heads[child]
    if parent is None:
        raise ValueError("a root has no head whose place it could take")
    tree.heads[child], tree.relations[child] = tree.heads[parent], tree.relations[parent]
    for index, head in enumerate(tree.heads):
        if head == parent and index != child:
            tree.heads[index] = child
    tree.heads[parent], tree.relations[parent] = child, function
