"""How `--help` looks, where Typer's default misleads."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _plain_flags(parameters: list[Any]) -> list[Any]:
    """Remove `<bool>` from flags: they take no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, also for the help."""
        return _plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, also for the help."""
        return _plain_flags(super().get_params(ctx))
