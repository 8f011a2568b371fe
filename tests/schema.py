# SPDX-License-Identifier: MIT
"""Compares a record with records/record.schema.json: see schema.sh."""
import json
import sys


def validate(schema, kind, path):
    """The first things that are wrong with a record of that kind."""
    import jsonschema

    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    only = {"$schema": schema["$schema"], "$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    for error in list(jsonschema.Draft202012Validator(only).iter_errors(record))[:5]:
        yield f"{path}: {error.json_path}: {error.message}"[:300]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    faults = list(validate(schema, sys.argv[2], sys.argv[3]))
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
