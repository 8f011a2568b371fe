# SPDX-License-Identifier: MIT
# Writes sections of a man page, as help2man includes them, from the end of a command's help: the exit statuses, and the
# examples without filling, so that they can be pasted.
function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text ~ /^[.']/ ? "\\&" text : text
}
function leave() {
  if (section == "Examples:") print ".RE\n.fi"
}
/^[A-Z].*:$/ {
  leave()
  section = $0
  if (section == "Exit status:") print "[exit status]"
  if (section == "Examples:") print "[examples]\n.nf\n.RS"
  next
}
section == "Exit status:" && /^  [0-9]/ {
  print ".TP\n.B " $1
  sub(/^ *[0-9]+ */, "")
}
section == "Exit status:" && NF {
  sub(/^ */, "")
  print roff($0)
}
section == "Examples:" {
  sub(/^  /, "")
  print roff($0)
}
END { leave() }
