# SPDX-License-Identifier: MIT
# Helpers of tests of the posenc command: tap.sh; a new folder, which is the current one and is removed at the end; and
# functions that run the command and leave its output in `out` and `err`. A script about one subcommand sets `command`
# to it before it sources this file.
# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # scripts use root; make sets the environment; `command` may be empty
. "${srcdir:-.}/tests/tap.sh"
: "${POSENC:=${abs_top_builddir:-$PWD}/posenc}"
[ -x "$POSENC" ] || { echo "Bail out! no posenc command at $POSENC"; exit 1; }
root=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { cut -c1-300 out err | sed 's/^/# /'; }

posenc() { # ARGUMENT...: sets $status
  "$POSENC" "$@" >out 2>err
  status=$?
}

ends() { # STATUS ARGUMENT...: with nothing on stderr
  want=$1
  shift
  posenc ${command-} "$@"
  [ $status -eq "$want" ] && [ ! -s err ]
}

says() { # PATTERN
  grep -q -e "$1" out
}

contains() { # FILE FIXED-TEXT
  grep -qF -- "$2" "$1"
}

lacks() { # FILE FIXED-TEXT
  ! contains "$1" "$2"
}

count_is() { # FILE FIXED-TEXT NUMBER
  found=$(grep -oF -- "$2" "$1" | wc -l)
  [ "$found" -eq "$3" ] || { echo "# $found times '$2' in $1, not $3"; false; }
}

section() { # FILE TITLE: prints the lines of a report from that heading to the next
  sed -n "/^## $2/,/^## /p" "$1"
}

in_section() { # FILE TITLE FIXED-TEXT
  section "$1" "$2" | grep -qF -- "$3"
}

ids_unique() { # PAGE
  [ -z "$(grep -oE ' id="[^"]*"' "$1" | sort | uniq -d)" ]
}

# The last command failed with status 2 and printed only one such line, on stderr. All begin with the same words.
one_line() { # PATTERN
  [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && grep -q -e "$1" err &&
    grep -q '^posenc\( [a-z]*\)\{0,1\}: ' err
}

is_refused() { # PATTERN ARGUMENT...
  text=$1
  shift
  posenc ${command-} "$@"
  one_line "$text"
}

refused() { # PATTERN ARGUMENT...: a check by itself
  check "refused: $(shift && echo "$*"): $1" is_refused "$@"
}

# A test of commands that write makes a folder `empty`, which must stay empty if a command is refused.
nothing_written() { [ -z "$(ls -A empty)" ]; }

refused_unwritten() { # PATTERN ARGUMENT...
  is_refused "$@" && nothing_written
}

# Whether `posenc report`, whose messages are in err, can make no page here; sets $why.
no_pages() {
  why='no gnuplot here'
  ! grep -q gnuplot err || return 0
  why='times of an emulator are not published'
  emulated && grep -q -e 'emulates the processor' -e 'times of an emulated processor' err
}

has_perl_json() { perl -MJSON::PP -e1 2>/dev/null; }

parse() { # PERL: runs it with the JSON of standard input in $j
  perl -MJSON::PP -0777 -ne 'my $j = decode_json($_); '"$1"
}

options_told() { # prints the options of the command that identify ends with, but for the tensor and the tolerance
  sed -n 's/^posenc check [^ ]*\( .*\)* holds it to that\.$/\1/p' out |
    sed 's/ --tensor [^ ]*//; s/ --max-[a-z]* [^ ]*$//; s/^ //'
}
