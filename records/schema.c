/* SPDX-License-Identifier: MIT */
/* Prints the JSON Schema of all records, from the rows of fields.def. The build runs it. */
/* Only what is in files. */
#define RECORD_OF_FILES

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A row of fields.def. */
typedef struct row {
  const char *key;     /* null in the row that begins an object, and in that of other members */
  const char *type;    /* of the object that it begins, or of the objects that the field has; "" */
  const char *meaning; /* null of other members */
  const char *schema;  /* of the field; @ stands for the reference to the type. Null of members "key.NAME" */
  bool must_be;
  const char *words[7]; /* the texts that are allowed; none if any is */
} row;

/* Prints a JSON string. An empty unit of a counter leaves ", " before its meaning. */
static void print_string(const char *text) {
  if (strncmp(text, ", ", 2) == 0) text += 2;
  putchar('"');
  for (; *text; text++) printf(strchr("\"\\", *text) ? "\\%c" : "%c", *text);
  putchar('"');
}

static void print_words(const row *r) {
  if (!r->words[0]) return;
  printf(r->words[1] ? ", \"enum\": [" : ", \"const\": ");
  for (size_t i = 0; i < sizeof r->words / sizeof *r->words && r->words[i]; i++) {
    if (i) printf(", ");
    print_string(r->words[i]);
  }
  if (r->words[1]) printf("]");
}

static void print_field(const row *r) {
  printf("        \"%s\": {\"description\": ", r->key);
  print_string(r->meaning);
  if (*r->schema) printf(", ");
  for (const char *c = r->schema; *c; c++)
    if (*c == '@')
      printf("\"$ref\": \"#/$defs/%s\"", r->type);
    else
      putchar(*c);
  print_words(r);
  printf("}");
}

static void print_required(const row *fields, size_t count) {
  const char *separator = "";
  printf("      \"required\": [");
  for (size_t i = 0; i < count; i++) {
    if (!fields[i].must_be) continue;
    printf("%s\"%s\"", separator, fields[i].key);
    separator = ", ";
  }
  printf("],\n");
}

static void print_properties(const row *fields, size_t count) {
  const char *separator = "";
  printf("      \"properties\": {");
  for (size_t i = 0; i < count; i++) {
    if (!fields[i].key || !fields[i].schema) continue;
    printf("%s\n", separator);
    print_field(&fields[i]);
    separator = ",";
  }
  printf("\n      }");
}

/* Prints what members are allowed that are no properties. */
static void print_others(const row *fields, size_t count) {
  bool is_open = false;
  for (size_t i = 0; i < count; i++) {
    is_open = is_open || !fields[i].key;
    if (!fields[i].key || fields[i].schema) continue;
    printf(",\n      \"patternProperties\": {\n        \"^%s\\\\.\": {\"description\": ", fields[i].key);
    print_string(fields[i].meaning);
    printf(", \"type\": \"string\"}\n      }");
  }
  printf("%s\n", is_open ? "" : ",\n      \"additionalProperties\": false");
}

static void print_object(const row *head, size_t fields) {
  printf("    \"%s\": {\n      \"description\": ", head->type);
  print_string(head->meaning);
  printf(",\n      \"type\": \"object\",\n");
  print_required(head + 1, fields);
  print_properties(head + 1, fields);
  print_others(head + 1, fields);
  printf("    },\n");
}

/* The objects that a file of a record can have at its top. */
static const char *const kinds[] = {"accuracy",   "timing",    "merged_accuracy", "merged_timing", "baseline",
                                    "report",     "machines",  "comparison",      "choice",        "history",
                                    "file_check", "published", "identified"};

static const char merged[] =
    "    \"merged_accuracy\": {\n"
    "      \"description\": \"What posenc merge makes of all shards of a run of posenc verify: the record of the whole "
    "run\",\n"
    "      \"allOf\": [{\"$ref\": \"#/$defs/accuracy\"}, {\"not\": {\"required\": [\"shard\"]}}]\n"
    "    },\n"
    "    \"merged_timing\": {\n"
    "      \"description\": \"What posenc merge makes of timings of one machine and build\",\n"
    "      \"allOf\": [{\"$ref\": \"#/$defs/timing\"}, {\"properties\": {\"context\": {\"not\": {\"required\": "
    "[\"shard\"]}}}}]\n"
    "    }\n";

static const row rows[] = {
#define MUST true
#define MAY false
#define COUNT_SCHEMA "\"type\": \"integer\", \"minimum\": 0"
#define COUNTS_SCHEMA "\"items\": {" COUNT_SCHEMA "}"
#define BEGIN(type, meaning) {NULL, #type, meaning, "", false, {NULL}},
#define END(type)
#define FIELD(need, key, meaning, schema) {#key, "", meaning, schema, need, {NULL}},
#define OF_TYPE(need, type, key, meaning, schema) {#key, #type, meaning, schema, need, {NULL}},
#define STRING(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"string\"")
#define STRING_OR_NULL(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"string\", \"null\"]")
#define STRINGS(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"array\", \"items\": {\"type\": \"string\"}")
#define WORD(need, key, meaning, ...) {#key, "", meaning, "\"type\": \"string\"", need, {__VA_ARGS__}},
#define INTEGER(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"integer\"")
#define INTEGER_OR_NULL(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"integer\", \"null\"]")
#define COUNT(need, key, meaning) FIELD(need, key, meaning, COUNT_SCHEMA)
#define COUNT_OR_NULL(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"integer\", \"null\"], \"minimum\": 0")
#define COUNTS(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"array\", " COUNTS_SCHEMA)
#define PAIR_OR_NULL(need, key, meaning)                                                                               \
  FIELD(need, key, meaning, "\"type\": [\"array\", \"null\"], " COUNTS_SCHEMA ", \"minItems\": 2, \"maxItems\": 2")
#define PLACES_OR_NULL(need, key, meaning)                                                                             \
  FIELD(need, key, meaning,                                                                                            \
        "\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"number\"}, \"minItems\": 2, \"maxItems\": 2")
#define NUMBERS(need, key, meaning)                                                                                    \
  FIELD(need, key, meaning, "\"type\": \"array\", \"items\": {\"type\": [\"number\", \"null\"]}")
#define LATER(type)
#define AT(need, type, key, meaning) OBJECT(need, type, key, meaning)
#define REAL(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"number\"")
#define NUMBER(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"number\", \"null\"]")
#define AMOUNT(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"number\", \"null\"], \"minimum\": 0")
#define POSITION(need, key, meaning) NUMBER(need, key, meaning)
#define SIZE(need, key, meaning) AMOUNT(need, key, meaning)
#define BOOLEAN(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"boolean\"")
#define FACTS(need, key, meaning) FIELD(need, key, meaning, "\"type\": \"object\"")
#define FACTS_OR_NULL(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"object\", \"null\"]")
#define OBJECT(need, type, key, meaning) OF_TYPE(need, type, key, meaning, "@")
#define OBJECT_OR_NULL(need, type, key, meaning)                                                                       \
  OF_TYPE(need, type, key, meaning, "\"anyOf\": [{@}, {\"type\": \"null\"}]")
#define ARRAY(need, type, key, meaning) OF_TYPE(need, type, key, meaning, "\"type\": \"array\", \"items\": {@}")
#define ARRAY_OF_NULLABLE(need, type, key, meaning)                                                                    \
  OF_TYPE(need, type, key, meaning, "\"type\": \"array\", \"items\": {\"anyOf\": [{@}, {\"type\": \"null\"}]}")
#define MAP(need, type, key, meaning)                                                                                  \
  OF_TYPE(need, type, key, meaning, "\"type\": \"object\", \"additionalProperties\": {@}")
#define OPAQUE(need, key, meaning) FACTS(need, key, meaning)
#define LIST(need, key, meaning) FIELD(need, key, meaning, "\"type\": [\"array\", \"object\"]")
#define MORE {NULL, "", NULL, "", false, {NULL}},
#define MORE_FACTS(key) MORE
#define TEXTS_OF(key, meaning) {#key, "", meaning, NULL, false, {NULL}},
#include "records/fields.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool begins(size_t i) {
  return i == ROWS || (!rows[i].key && rows[i].meaning);
}

int main(void) {
  printf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"Records of posenc\",\n"
         "  \"description\": \"What posenc writes and reads back; see doc/records.md\",\n  \"anyOf\": [\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    printf("    {\"$ref\": \"#/$defs/%s\"}%s\n", kinds[i], i + 1 < sizeof kinds / sizeof *kinds ? "," : "");
  printf("  ],\n  \"$defs\": {\n");
  for (size_t i = 0, end; i < ROWS; i = end) {
    for (end = i + 1; !begins(end);) end++;
    print_object(&rows[i], end - i - 1);
  }
  printf("%s  }\n}\n", merged);
  return ferror(stdout) || fflush(stdout) != 0;
}
