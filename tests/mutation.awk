# SPDX-License-Identifier: MIT
# Reads tables of mutations (tests/mutations/README); every file named on the command line is one. what:
#   list    a line for each: NAME FILE VERDICT TESTS; the verdict is killed, equivalent, open or needs:FLAG, and
#           commas are between the tests
#   check   what is wrong with the tables, a line for each fault
#   apply   the source of the mutation `name`, changed, on standard output; exit status 1 if it does not apply once
#   row     the lines of the mutation `name`, as they are in the table
# tree: the source folder.
BEGIN { newline = sprintf("\n") }

function fault(text) { print FILENAME ":" FNR ": " text; faults++ }

function there(path,    line, is_there) {
  is_there = (getline line < (tree "/" path)) >= 0
  close(tree "/" path)
  return is_there
}

function finish_row() {
  if (id == "") return
  if (what == "list") print id, file, verdict, tests
  if (what == "row" && id == name) printf "%s", row
  if (what == "apply" && id == name) applied = change(1)
  if (what == "check") {
    for (n = split(tests, test, ","); n > 0; n--)
      if (!there(test[n] ".c") && !there(test[n] ".sh")) fault(id ": there is no " test[n])
    if (before == "") fault(id " changes nothing")
    else if (before == after) fault(id " changes a text into itself")
    else if (!change(0)) fault(id ": its text occurs " count " times in " file)
  }
  id = ""
}

# Replaces the one place of `before`; false if there are more, or none.
function change(is_printed,    content, line, path, at, rest) {
  path = tree "/" file
  content = ""
  while ((getline line < path) > 0) content = content line newline
  close(path)
  count = 0
  for (rest = content; before != "" && (at = index(rest, before)) > 0; rest = substr(rest, at + 1)) count++
  if (count != 1) return 0
  at = index(content, before)
  if (is_printed) printf "%s%s%s", substr(content, 1, at - 1), after, substr(content, at + length(before))
  return 1
}

/^#/ || /^$/ { next }

/^[a-z]/ {
  finish_row()
  id = $1
  file = $2
  tests = $3
  for (i = 4; i <= NF; i++) tests = tests "," $i
  if (id in seen) fault(id " is there twice")
  if (tests == "") fault(id " names no test")
  seen[id] = 1
  verdict = "killed"
  before = after = ""
  row = $0 newline
  next
}

{ row = row $0 newline }
/^- / { before = before (before == "" ? "" : newline) substr($0, 3); next }
/^\+( |$)/ { after = after (after == "" ? "" : newline) substr($0, 3); next }
/^= equivalent: ./ { verdict = "equivalent"; next }
/^= open: ./ { verdict = "open"; next }
/^= needs: ./ { verdict = "needs:" $3; next }
{ fault("a line that is none of a mutation") }

END {
  finish_row()
  if (what == "apply") exit !applied
  if (what == "check") exit faults > 0
}
