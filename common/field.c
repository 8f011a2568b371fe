/* SPDX-License-Identifier: MIT */
#include "common/field.h"

json_t *field_name(const char *name, const char *also) {
  char plain[200];
  size_t used = 0;
  for (; *name && used + 1 < sizeof plain; name++)
    plain[used++] = (unsigned char)*name < ' ' || strchr(also, *name) || *name == 0x7f ? '?' : *name;
  plain[used] = '\0';
  json_t *text = json_string(plain);
  if (text) return text;
  for (size_t i = 0; i < used; i++) plain[i] = (unsigned char)plain[i] < 0x80 ? plain[i] : '?';
  return json_string(plain);
}
