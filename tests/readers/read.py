"""Reads documents with the CycloneDX library for Python and writes them again: what it knows must survive.

    python read.py FOLDER...        every *.cdx.json below; exit code 1 when something is lost, changed or refused
"""

import json
import sys
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.output.json import JsonV1Dot6, JsonV1Dot7
from packageurl import PackageURL

WRITERS = {"1.6": JsonV1Dot6, "1.7": JsonV1Dot7}

# What this version of the library has no class for, by the name of the member. A release that learns one of them makes no difference here.
UNKNOWN = {"modelCard", "data", "compositions", "citations", "distributionConstraints", "isExternal"}


def plain(value, key=None):
    """The value without what is written in another way for the same meaning: order of lists, offset of times, encoding of purls."""
    if isinstance(value, dict):
        return {name: plain(member, name) for name, member in value.items() if name not in UNKNOWN}
    if isinstance(value, list):
        return sorted((plain(item, key) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if key == "timestamp":
        return value.replace("Z", "+00:00")
    if key == "purl":
        return PackageURL.from_string(value).to_string()
    return value


def differences(before, after, path=""):
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            if name not in after:
                yield f"{path}/{name} was lost"
            elif name not in before:
                yield f"{path}/{name} was added"
            else:
                yield from differences(before[name], after[name], f"{path}/{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after)):
            yield from differences(one, other, f"{path}/{index}")
    elif before != after:
        yield f"{path} is {after!r} instead of {before!r}"


def check(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    read = Bom.from_json(document)
    written = json.loads(WRITERS[document["specVersion"]](read).output_as_string())
    return list(differences(plain(document), plain(written))), document["specVersion"]


def main(folders):
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.cdx.json"))
    if not paths:
        print("there is no document to read", file=sys.stderr)
        return 1
    broken, versions = 0, set()
    for path in paths:
        try:
            found, version = check(path)
            versions.add(version)
        except Exception as error:  # whatever the library says is the finding
            found = [f"refused: {type(error).__name__}: {error}"]
        for difference in found:
            print(f"{path}: {difference}", file=sys.stderr)
        broken += bool(found)
    print(f"{len(paths)} documents of CycloneDX {' and '.join(sorted(versions))} read and written again, {broken} with differences")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
