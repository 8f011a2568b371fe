# SPDX-License-Identifier: MIT
"""Compares records/record.schema.json with records/fields.def and common/counters.def, and records with the schema:
see schema.sh."""
import json
import re
import sys

KINDS = {
    "STRING": {"type": "string"},
    "STRING_OR_NULL": {"type": ["string", "null"]},
    "STRINGS": {"type": "array", "items": {"type": "string"}},
    "INTEGER": {"type": "integer"},
    "INTEGER_OR_NULL": {"type": ["integer", "null"]},
    "COUNT": {"type": "integer", "minimum": 0},
    "COUNT_OR_NULL": {"type": ["integer", "null"], "minimum": 0},
    "COUNTS": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    "PAIR_OR_NULL": {"type": ["array", "null"], "items": {"type": "integer", "minimum": 0}, "minItems": 2,
                     "maxItems": 2},
    "REAL": {"type": "number"},
    "NUMBER": {"type": ["number", "null"]},
    "AMOUNT": {"type": ["number", "null"], "minimum": 0},
    "BOOLEAN": {"type": "boolean"},
    "FACTS": {"type": "object"},
    "FACTS_OR_NULL": {"type": ["object", "null"]},
    "UNREAD": {},
}


def kind_schema(kind, arguments):
    """The schema of a field, but for what it means."""
    if kind in KINDS:
        return KINDS[kind]
    inner = {"$ref": f"#/$defs/{arguments[1]}"}
    return {
        "OBJECT": inner,
        "OBJECT_OR_NULL": {"anyOf": [inner, {"type": "null"}]},
        "ARRAY": {"type": "array", "items": inner},
        "ARRAY_OF_NULLABLE": {"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}},
    }[kind]


def read_fields(text):
    """{object: {field: (must it be there, schema)}} of fields.def, preprocessed."""
    objects = {}
    for name, body in re.findall(r"BEGIN\((\w+)\)(.*?)END\(\1\)", text, re.S):
        objects[name] = {}
        for kind, arguments in re.findall(r"(\w+)\(([^)]*)\)", body):
            need, *_, key = split = [argument.strip() for argument in arguments.split(",")]
            objects[name][key] = (need == "MUST", kind_schema(kind, split))
    return objects


def read_counters(text):
    """{name: description in the schema} of counters.def, preprocessed."""
    string = r'"(?:[^"\\]|\\.)*"\s*'
    counters = {}
    for name, unit, meaning in re.findall(rf"COUNTER\(\w+,\s*(\w+),\s*({string}),\s*((?:{string})+)\)", text):
        said = "".join(json.loads(part) for part in re.findall(string, meaning))
        counters[name] = ", ".join(filter(None, (json.loads(unit), said)))
    if len(counters) != text.count("COUNTER("):
        sys.exit("counters.def has rows of another form")
    return counters


def compare(schema, objects, counters):
    """The differences, line by line. The schema may also state the meaning of a field and its values; those of counters
    are in counters.def."""
    defined = {name: one for name, one in schema["$defs"].items() if "properties" in one}
    for name in sorted(defined.keys() ^ objects.keys()):
        yield f"{name}: only in one of the two"
    for name in sorted(defined.keys() & objects.keys()):
        one, fields = defined[name], objects[name]
        if one["type"] != "object" or not one["description"]:
            yield f"{name}: no object, or it is not described"
        meanings = counters if name in ("benchmark", "row_timing") else {}
        for key in sorted(one["properties"].keys() - fields.keys()):
            yield f"{name}.{key}: only in the schema"
        for key in sorted(fields.keys() - one["properties"].keys()):
            wanted = {"description": meanings.get(key, "..."), **fields[key][1]}
            yield f"{name}.{key}: not in the schema: {json.dumps(key)}: {json.dumps(wanted)}"
        for key in sorted(one["properties"].keys() & fields.keys()):
            must, wanted = fields[key]
            said = dict(one["properties"][key])
            description = said.pop("description", "")
            if not description:
                yield f"{name}.{key}: what it is, is not described"
            if description != meanings.get(key, description):
                yield f"{name}.{key}: described as {description!r}, but the counter is {meanings[key]!r}"
            if wanted and {k: v for k, v in said.items() if k not in ("const", "enum")} != wanted:
                yield f"{name}.{key}: {said}, but the field is {wanted}"
            if must != (key in one["required"]):
                yield f"{name}.{key}: required by one of the two"


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
    if sys.argv[2] == "fields":
        with open(sys.argv[3], encoding="utf-8") as fields, open(sys.argv[4], encoding="utf-8") as counters:
            faults = list(compare(schema, read_fields(fields.read()), read_counters(counters.read())))
    else:
        faults = list(validate(schema, sys.argv[2], sys.argv[3]))
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
