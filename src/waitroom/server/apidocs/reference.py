"""The OpenAPI document, prepared for a template: operations, fields, examples. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
TAGS = {
    "visitors": ("Visitors", "What a browser or an app calls for somebody who waits."),
    "gates": ("Gates", "What the protected site asks, to let nobody in without a pass."),
    "operators": ("Operators", "Running rooms. Every call needs an API key: `Bearer wr_…`."),
    "desk guests": ("Desk: guests", "A restaurant's waitlist, for those who wait. No key."),
    "desk hosts": ("Desk: hosts", "Running a store's line. Needs its key: `Bearer wrh_…`."),
    "desk admin": ("Desk: admins", "Stores and host keys. Needs an API key of the role admin."),
    "operations": ("Operations", "Health, readiness and numbers, for those who run the server."),
}
"""Known tags in the order of the page: title and one sentence. Others follow by their own name."""

_EXAMPLES: dict[str, Any] = {
    "room": "concert",
    "name": "concert",
    "ticket": "AQd0…",
    "state": "waiting",
    "position": 1234,
    "waiting": 5021,
    "poll_after_ms": 8200,
    "low": 480,
    "likely": 540,
    "high": 660,
    "places": 10,
    "count": 50,
    "enter": True,
    "pass": "eyJ…",
    "mode": "open",
    "enter_by": "2027-01-31T11:00:00.000Z",
    "session_ends_at": "2027-01-31T11:10:00.000Z",
    "opens_at": "2027-01-31T11:00:00.000Z",
    "ends_at": "2027-01-31T14:00:00.000Z",
    "now": "2027-01-31T11:00:00.000Z",
    "status": "ok",
}
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a type's name; with `schema`, it links there."""

    text: str
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body; `place` is where a parameter goes."""

    name: str
    type_name: tuple[Part, ...]
    required: bool
    about: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One possible answer."""

    status: str
    about: str
    media: str
    type_name: tuple[Part, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    body_type: tuple[Part, ...]
    replies: tuple[Reply, ...]
    curl: str


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one tag."""

    id: str
    title: str
    about: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """A named shape of data."""

    name: str
    about: str
    fields: tuple[Field, ...]
    example: str


def groups(document: Document, base: str) -> list[Group]:
    """Return the operations by tag; `base` is where curl lines point."""
    by_tag: dict[str, list[Operation]] = {tag: [] for tag in TAGS}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                made = _operation(document, path, method, item[method], base)
                by_tag.setdefault(tag, []).append(made)
    tagged = []
    for tag, operations in by_tag.items():
        title, about = TAGS.get(tag, (tag.capitalize(), ""))
        if operations:
            tagged.append(Group(f"tag-{tag.replace(' ', '-')}", title, about, tuple(operations)))
    return tagged


def schemas(document: Document) -> list[Schema]:
    """Return the named shapes of data."""
    named = document.get("components", {}).get("schemas", {})
    return [
        Schema(
            name,
            _own_words(schema.get("description", "")),
            tuple(_fields(schema)),
            _example_text(document, schema),
        )
        for name, schema in sorted(named.items())
    ]


def anchor(method: str, path: str) -> str:
    """Return the id of an operation on the page."""
    words = "".join(c if c.isalnum() else " " for c in path).split()
    return "-".join([method, *words])


def _operation(document: Document, path: str, method: str, spec: Document, base: str) -> Operation:
    body = _json_schema(spec.get("requestBody", {}).get("content", {}))
    about = str(spec.get("description", ""))
    first, _, rest = about.partition("\n\n")
    return Operation(
        id=anchor(method, path),
        method=method.upper(),
        path=path,
        summary=first.replace("\n", " ") or str(spec.get("summary", "")),
        about=rest,
        parameters=tuple(
            _parameter(document, parameter) for parameter in spec.get("parameters", [])
        ),
        body=tuple(_fields(_target(document, body))),
        body_type=_type(body),
        replies=tuple(_replies(document, spec.get("responses", {}))),
        curl=_curl(document, path, method, spec, base),
    )


def _parameter(document: Document, parameter: Document) -> Field:
    parameter = _target(document, parameter)
    about = str(parameter.get("description", ""))
    required = bool(parameter.get("required"))
    return Field(
        parameter["name"], _type(parameter.get("schema", {})), required, about, parameter["in"]
    )


def _fields(schema: Document) -> Iterator[Field]:
    for name, field in schema.get("properties", {}).items():
        about = str(field.get("description", ""))
        if "default" in field and field["default"] not in (None, ""):
            about = f"{about} Default `{json.dumps(field['default'])}`.".strip()
        yield Field(name, _type(field), name in _required(schema), about)


def _replies(document: Document, replies: Document) -> Iterator[Reply]:
    for status, spec in sorted(replies.items()):
        content = spec.get("content", {})
        media = next(iter(content), "")
        schema = content[media].get("schema", {}) if media else {}
        example = _example_text(document, schema) if status.startswith("2") else ""
        about = str(spec.get("description", "")).replace("Successful Response", "")
        yield Reply(status, about, media, _type(schema) if schema else (), example)


def _curl(document: Document, path: str, method: str, spec: Document, base: str) -> str:
    """Return a command that can be pasted into a shell."""
    for parameter in spec.get("parameters", []):
        name = _target(document, parameter)["name"]
        value = "me" if name == "ticket" else str(_EXAMPLES.get(name, name))
        path = path.replace(f"{{{name}}}", value)
    words = ["curl"] if method == "get" else ["curl", "-X", method.upper()]
    words.append(base + path)
    if path.startswith("/v1/admin"):
        words += ["-H", "Authorization: Bearer $WAITROOM_KEY"]
    elif "/tickets/me" in path:
        words += ["-H", "Authorization: Bearer $TICKET"]
    body = _target(document, _json_schema(spec.get("requestBody", {}).get("content", {})))
    needed = _needed(document, body)
    if needed or spec.get("requestBody", {}).get("required"):
        words += ["--json", json.dumps(needed, ensure_ascii=False)]
    return " ".join(_quoted(word) for word in words)


def _needed(document: Document, body: Document) -> dict[str, Any]:
    """Return the smallest body that makes sense: what is required, and what has an example."""
    fields = body.get("properties", {})
    wanted = [
        name for name, field in fields.items() if field.get("examples") or name in _required(body)
    ]
    return {name: _example(document, fields[name], name) for name in wanted}


def _required(schema: Document) -> Sequence[str]:
    names: Sequence[str] = schema.get("required", ())
    return names


def _quoted(word: str) -> str:
    """Quote for a shell, but let our own variables be filled in."""
    return f'"{word}"' if "$" in word else shlex.quote(word)


def _json_schema(content: Document) -> Document:
    schema: Document = content.get("application/json", {}).get("schema", {})
    return schema


def _target(document: Document, schema: Document) -> Document:
    """Follow `$ref` references to the end."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if reference is None:
            break
        target: Any = document
        for word in reference.removeprefix("#/").split("/"):
            target = target[word]
        schema = target
    return schema


def _type(schema: Document) -> tuple[Part, ...]:
    """Return the name of a type, with links to named ones."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return (Part(name, name),)
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return _joined([_type(schema) for schema in either], " or ")
    if "const" in schema:
        return (Part(json.dumps(schema["const"])),)
    if "enum" in schema:
        return (Part(", ".join(json.dumps(value) for value in schema["enum"])),)
    if schema.get("type") == "array":
        return (Part("list of "), *_type(schema.get("items", {})))
    if schema.get("type") == "object" and "properties" not in schema:
        more = schema.get("additionalProperties")
        return (Part("map of "), *_type(more)) if isinstance(more, dict) else (Part("object"),)
    return (Part(str(schema.get("format") or schema.get("type") or "any")),)


def _joined(types: list[tuple[Part, ...]], word: str) -> tuple[Part, ...]:
    parts = list(types[0])
    for type_name in types[1:]:
        parts += [Part(word), *type_name]
    return tuple(parts)


def _example_text(document: Document, schema: Document) -> str:
    if not schema:
        return ""
    example = _example(document, schema)
    return (
        json.dumps(example, indent=2, ensure_ascii=False)
        if isinstance(example, dict | list)
        else ""
    )


def _example(document: Document, schema: Document, name: str = "", deep: int = 0) -> Any:
    """Make up a value that fits a schema; known fields get our own examples."""
    schema = _target(document, schema)
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("examples"):
        return schema["examples"][0]
    if either := schema.get("anyOf") or schema.get("oneOf"):
        if name in _EXAMPLES:
            return _EXAMPLES[name]
        return _example(document, either[0], name, deep)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object" and deep < _DEEPEST:
        fields = schema.get("properties", {})
        return {key: _example(document, field, key, deep + 1) for key, field in fields.items()}
    if kind == "array" and deep < _DEEPEST:
        return [_example(document, schema.get("items", {}), name, deep + 1)]
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    return {"integer": 1, "number": 1.5, "boolean": True, "string": "…"}.get(str(kind))


def _own_words(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")
