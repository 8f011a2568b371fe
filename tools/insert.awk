# SPDX-License-Identifier: MIT
# Copies a document, with the file `text` between its marks "<!-- MARK: begin … -->" and "<!-- MARK: end -->" in place
# of the old text there. Exit status 1 if it has not exactly one such place.
$0 == "<!-- " mark ": end -->" { inside = 0 }
!inside { print }
index($0, "<!-- " mark ": begin") == 1 {
  print ""
  while ((getline line <text) > 0) print line
  inside = 1
  places++
}
END { exit places != 1 || inside }
