"""The API viewer of the site: Swagger UI with the OpenAPI document of a complete server."""

import json
import shutil
from pathlib import Path

FILES = (
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "LICENSE",
    "NOTICE",
)


def write(root: Path, folder: Path) -> None:
    """Write the viewer into a folder; npm must have installed Swagger UI."""
    package = root / "node_modules/swagger-ui-dist"
    if not package.is_dir():
        raise FileNotFoundError("Swagger UI is missing: run `npm install` in the repository first")
    folder.mkdir(exist_ok=True)
    for name in FILES:
        shutil.copy(package / name, folder / name)
    (folder / "openapi.json").write_text(json.dumps(document(), ensure_ascii=False), "utf-8")
    shutil.copy(Path(__file__).with_name("viewer.html"), folder / "index.html")


def document() -> object:
    """Return the server's OpenAPI document, including the desk."""
    from waitroom.server.app import create
    from waitroom.settings import Settings

    return create(Settings(desk=True)).framework.openapi()
