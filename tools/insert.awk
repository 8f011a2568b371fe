# SPDX-License-Identifier: MIT
# Copies a document and replaces the text between its marks "<!-- MARK: begin … -->" and "<!-- MARK: end -->" by the
# file `text`. The exit status is 1 unless the document has exactly one such place.
$0 == "<!-- " mark ": end -->" { inside = 0 }
!inside { print }
index($0, "<!-- " mark ": begin") == 1 {
  print ""
  while ((getline line <text) > 0) print line
  inside = 1
  places++
}
END { exit places != 1 || inside }
