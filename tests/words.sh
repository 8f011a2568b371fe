#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that a word has one meaning: the words that doc/glossary.md has replaced are in no document, comment, message or
# name (of a function, variable, type, macro) of the sources in C; a type of a header is no other type elsewhere; and no
# document counts by hand what the tree has tables of. What may stay is below, each row with its reason; a row that is
# needed no longer is a failure, too. $srcdir is the source folder. The tests themselves are not looked at.
# shellcheck disable=SC2086 # lists of folders
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM

folders='include lib impls reference common records verify inspect bench reports tools cli'

# Replaced words that are usual in another meaning, which no script can tell apart, are not looked for: the limit of
# memory, samples of a table, forms of an option, half an ulp, room for a number. Names have some of them in one meaning
# each, see below.
kept='limit sample forms half room turn answer table examination'

# WORD :: KIND :: EXPRESSION :: REASON: what may stay of a replaced word. KIND is name or text; the expression is awk's,
# for "FILE NAME" or "FILE LINE".
cat >"$work/exceptions" <<'ROWS'
oracle :: name :: . :: the glossary: in names of code a reference is an oracle
tie :: text :: ties( to even| away|$)|with ties to even :: the rounding mode has that name
tie :: text :: ^records/statistics[.][ch] :: equal numbers of a rank test are called so in its sources
tie :: name :: ^records/statistics[.]c (ties|tied)$ :: equal numbers of a rank test are called so in its sources
tie :: name :: ^reports/model/answer[.]c tie$ :: two kernels of one time
tie :: text :: ^inspect/identify/.* tied with them :: makers of equally many bits
tie :: name :: ^(records/fields[.]def|verify/record[.]c|reports/sections/far[.]c) from_tie$ :: a field of records
middle :: text :: [Tt]he middle (half|position) :: of sorted numbers, of a block
middle :: text :: (in the|in its|from the) middle( |,|$|[.]) :: of a block, of rows, of positions
middle :: text :: ^inspect/identify/ :: of rows and of runs
middle :: name :: . :: one in the middle of a list, of limbs, of rows; midpoints are named so
claim :: text :: ^(doc/(sinusoids|glossary)[.]md|README[.]md|NEWS|reports/|tools/) :: what is often said of encodings
claim :: text :: ^doc/verification[.]md .*. claims . 5 :: an area of mutations
claim :: name :: ^(reports|tools)/ :: what is often said of encodings
claim :: name :: ^records/fields[.]def claims?$ :: what is often said of encodings, in a report
peer :: name :: ^(impls/peers|cli)/ :: the folder of competitors
peer :: text :: peers[.](json|md) :: files that have the name of their target
settle :: name :: SETTLED$ :: memory that grows no more
ROWS

# WORD :: name :: EXPRESSION :: MEANING: where names have a word, "FILE NAME", and what it means there.
cat >"$work/meanings" <<'ROWS'
answer :: name :: ^(reports/|records/fields[.]def|cli/measure[.]c) :: what a report says first: a kernel for a budget
answer :: name :: ^verify/.* (check_)?known_answers$ :: a test of that name, of random bits
exam :: name :: ^verify/ :: the verification of one thing
exam :: name :: ^(common|records|cli)/.* ((record_)?run_|array_)?exam(_record)?$ :: of a run, and how it is made
exam :: name :: ^records/read[.]c add_exam$ :: of a kernel on a shape
limit :: name :: ^(bench|records|reports|cli/timings[.]c|tools/history-power[.]c) :: what the machine can do
limit :: name :: ^common/.* (same_)?limits?$ :: what the system allows
limit :: name :: ^(common|cli)/.* threads_limit$ :: what OpenMP may use
limit :: name :: ^cli/(options[.]def|report[.]c) (time_limit|add_limit|limit)$ :: the option of a time
limit :: name :: ^(verify|cli)/.* limit$ :: the field of records: a tolerance
limit :: name :: ^verify/causes[.]c of_limit$ :: a share of the tolerance
limit :: name :: ^lib/simd/.* limit$ :: of the numbers that are flagged
limit :: name :: ^tools/sinusoids[.]c limit$ :: of a sequence
sample :: name :: ^inspect/ :: of rows
sample :: name :: ^verify/ :: of rows and elements
sample :: name :: ^records/(fields[.]def|compare[.]c) (sampled|samples(_count)?)$ :: fields of records
sample :: name :: ^reports/.* (record_sample|record_unlike_samples|sample_of|words_sample|sampled)$ :: of elements
table :: name :: ^(include|bench|cli|common|inspect|records|reference|verify|tools)/ :: rows of sines and cosines
table :: name :: ^lib/(api|apply|exact/round[.]h) :: rows of sines and cosines
table :: name :: ^impls/(encodings|recipes|opencl)/ :: rows of sines and cosines, or what is learned instead
table :: name :: ^impls/cr/families[.]h posenc_table$ :: rows of sines and cosines
table :: name :: ^impls/[a-z0-9-]+[.]c :: rows of sines and cosines
table :: name :: ^reports/(machines[.]c|model/|sections/) :: rows of sines and cosines, with their times
table :: name :: ^reports/page/.* (record_)?table$ :: rows of sines and cosines, with their times
turn :: name :: ^(include|lib|impls|inspect|reference)/ :: 2 pi
turn :: name :: ^(reports/sections/errors|tools/sinusoids|verify/hardest)[.]c :: 2 pi
turn :: name :: ^(bench/benchmarks[.]c turn|(records|reports/model)/.* (has_)?turn)$ :: a field of records
turn :: name :: ^verify/(array|causes|apply)[.]c turn(ed)?$ :: the angle of a pair
turn :: name :: ^verify/.* (in_turn|check_plans_by_turns)$ :: one after the other
turn :: name :: ^cli/message[.]c __lsan_is_turned_off$ :: of a library
ROWS

# ---- words ----

# A word stands alone or between underscores, with its endings. Comments and strings of C are text, the rest is names.
# Prints WORD, KIND, FILE, LINE and what has it, with tabs between.
cat >"$work/scan.awk" <<'AWK'
BEGIN {
  n = split(words, all, ",")
  for (i = 1; i <= n; i++) pattern[i] = all[i] ~ / / ? all[i] : all[i] "(s|es|d|ed|ing)?"
}
function note(i, kind, what) { print all[i] "\t" kind "\t" FILENAME "\t" FNR "\t" what }
function text(line, lower, i) {
  lower = " " tolower(line) " "
  for (i = 1; i <= n; i++)
    if (lower ~ "[^a-z0-9_./-]" pattern[i] "[^a-z0-9_/-]") note(i, "text", line)
}
function names(line, i, part, count, parts) {
  count = split(line, parts, /[^A-Za-z0-9_]+/)
  for (part = 1; part <= count; part++)
    for (i = 1; i <= n; i++)
      if (tolower("_" parts[part] "_") ~ "_" pattern[i] "_") note(i, "name", parts[part])
}
FNR == 1 { in_comment = in_list = 0; is_c = FILENAME ~ /\.(c|h|cc|def)$/ }
/^## Replaced words/ { in_list = 1 }
!is_c {
  gsub(/`[^`]*`/, "") # names
  if (!in_list) text($0)
  next
}
/^[ \t]*#[ \t]*include/ { next }
{
  code = said = ""
  for (rest = $0; rest != "";) {
    if (in_comment) {
      end = index(rest, "*/")
      said = said " " (end ? substr(rest, 1, end - 1) : rest)
      rest = end ? substr(rest, end + 2) : ""
      in_comment = !end
    } else if (match(rest, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
      code = code substr(rest, 1, RSTART - 1) " "
      token = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      in_comment = token == "/*"
      if (token == "//") token = rest
      if (token == rest) rest = ""
      if (!in_comment) said = said " " token
    } else {
      code = code rest
      rest = ""
    }
  }
  names(code)
  text(said)
}
AWK

offends() { # WHAT FILE: a point, failed with the file's lines if it has any
  if [ ! -s "$2" ]; then
    point ok "$1"
  else
    point 'not ok' "$1"
    sed 's/^/# /' "$2" | head -n 60
  fi
}

sources() { find $folders -name '*.[ch]' -o -name '*.cc' -o -name '*.def'; }

sed -n '/^## Replaced words/,$s/^| \([^|]*\) |.*/\1/p' doc/glossary.md | sed 1d | tr ',' '\n' |
  sed 's/^ *//; s/ *(.*//; s/ *$//' >"$work/replaced"
for word in $kept; do
  check "the glossary has replaced $word, which is not looked for" grep -q -x "$word" "$work/replaced"
done
words=$(for word in $kept; do echo "$word"; done | grep -v -x -F -f - "$work/replaced" | paste -s -d ,)
{ sources; ls README.md NEWS doc/*.md; } | sort |
  xargs awk -v words="$words" -f "$work/scan.awk" >"$work/found"
check 'it looks at names and texts' sh -c "grep -q '	name	' '$work/found' && grep -q '	text	' '$work/found'"

# Divides what was found: offenders, and rows that allow nothing.
divide() { # FILE-OF-ROWS FOUND
  rm -f "$work/offenders" "$work/unneeded"
  touch "$work/offenders" "$work/unneeded"
  awk -F '\t' -v rows="$1" -v to="$work" '
  BEGIN {
    offenders = to "/offenders"
    unneeded = to "/unneeded"
    while ((getline row < rows) > 0) {
      count++
      split(row, part, / :: /)
      word[count] = part[1]; kind[count] = part[2]; expression[count] = part[3]
    }
  }
  {
    allowed = 0
    for (i = 1; i <= count; i++)
      if (word[i] == $1 && kind[i] == $2 && $3 " " $5 ~ expression[i]) {
        allowed = 1
        uses[i]++
        break
      }
    if (!allowed) print $1 " (" $2 "): " $3 ":" $4 ": " $5 >offenders
  }
  END {
    for (i = 1; i <= count; i++)
      if (!uses[i]) print word[i] " :: " kind[i] " :: " expression[i] >unneeded
  }' "$2"
}
divide "$work/exceptions" "$work/found"
offends 'no replaced word is in a document, a comment, a message or a name' "$work/offenders"
offends 'each row of exceptions is needed' "$work/unneeded"

# A word of several usual meanings has one in the names of a place.
sources | sort | xargs awk -v words='answer,exam,limit,sample,table,turn' -f "$work/scan.awk" |
  awk -F '\t' -v OFS='\t' '$2 == "name" { $5 = tolower($5); print }' >"$work/names"
divide "$work/meanings" "$work/names"
offends 'names have a word in the meaning that it has in their place' "$work/offenders"
offends 'each row of meanings is needed' "$work/unneeded"
for word in answer exam limit sample table turn; do
  check "the glossary has $word" grep -q -i "[*][*]$word[*][*]" doc/glossary.md
done

# ---- types ----

# Prints TYPE, FILE of what is defined outermost; the types of posenc.h are completed in lib/api.
sources | grep '\.[ch]$' | xargs awk '
  /^typedef (struct|enum|union) [a-z_0-9]+/ { sub(/[^a-z_0-9].*/, "", $3); print $3, FILENAME }
  /^} [a-z_0-9]+;/ { sub(/;.*/, "", $2); print $2, FILENAME }
  /^(struct|union|enum) [a-z_0-9]+ {/ { print $2, FILENAME }' | grep -v ^posenc_ | sort -u >"$work/types"
awk '
  function folder(path) { sub("/[^/]*$", "", path); return path }
  { files[$1] = files[$1] " " $2 }
  END {
    for (type in files) {
      n = split(files[type], file, " ")
      for (i = 1; i <= n; i++)
        for (k = 1; k <= n; k++)
          if (file[i] ~ /[.]h$/ && folder(file[i]) != folder(file[k])) two[type] = files[type]
    }
    for (type in two) print type two[type]
  }' "$work/types" | sort >"$work/two"
offends 'no other type of a header has its name for a second thing elsewhere' "$work/two"

# ---- counts ----

# A number of what the tree has tables of is soon wrong. The notebook tells what was so.
number='([0-9]{2,}|twenty|thirty|forty|fifty|sixty|hundred) (other |more |honest )?'
counted='(mutants|mutations|fakes|habits|kernels|competitors|recipes|tests|headers|sources|documents|folders)'
ls README.md NEWS doc/*.md | grep -v notebook | xargs grep -n -E -i "(^|[ (])$number$counted" >"$work/offenders"
offends 'no document counts mutants, mutations, kernels, recipes, tests or files' "$work/offenders"

same() { # WHAT WORD NUMBER DOCUMENT: the document has the word for the number
  numbers='one two three four five six seven eight nine ten'
  check "$4: $1" test "$(echo "$numbers" | cut -d ' ' -f "$3")" = "$2" -a "$(grep -c -i -w "$2" "$4")" -gt 0
}
tables=$(for file in reference/worst/*.wc; do echo "$file"; done | grep -v -c -e -bf16 -e -f16)
same 'tables with hard-to-round cases' eight "$tables" doc/verification.md
same 'tables with hard-to-round cases' eight "$tables" doc/accuracy.md
plan
exit $tap_failed
