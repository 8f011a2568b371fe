#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures kernels at the commit of the current folder, keeps the records in git's notes, and tells since when something
# is slower or less accurate:
#
#     history.sh OPTION...
#
# The options are of posenc verify and bench: --plugin, --kernel and the problem, one table that takes seconds.
# Variables:
#
#     POSENC_KEEP=true   push the notes, refs/notes/posenc, to the remote repository; else they stay as they were, and
#                        only this commit is told of, as for a pull request
#     POSENC_SINCE=NAME  tell of changes since that commit (the last 50)
#
# It leaves posenc-history/: the records, changes.md, which may be a comment, and index.html, which may be a page where
# gnuplot is. The exit status is that of posenc history: 1 if something is worse.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
notes=refs/notes/posenc folder=posenc-history
POSENC_COMMIT=$(git rev-parse HEAD)
export POSENC_COMMIT
mkdir -p $folder

posenc verify "$@" --search 0 --format json -o $folder/accuracy.json || [ $? -eq 1 ] # its own step fails for that
posenc bench "$@" --mode hot --format json -o $folder/times.json || [ $? -eq 1 ]
if command -v valgrind >/dev/null; then python3 "$here/instructions.py" $folder/times.json "$@"; fi

git fetch -q origin "+$notes:$notes" 2>/dev/null || echo "history.sh: there are no $notes yet" >&2
if [ "${POSENC_KEEP:-}" = true ]; then
  for record in accuracy times; do git notes --ref $notes append -F $folder/$record.json 2>/dev/null; done
  git push -q origin $notes
  set -- $notes
  : "${POSENC_SINCE:=$(git rev-list --first-parent --max-count=50 HEAD | tail -n 1)}"
else
  set -- $folder/accuracy.json $folder/times.json
  if git rev-parse -q --verify $notes >/dev/null; then set -- $notes "$@"; fi
  : "${POSENC_SINCE:=HEAD}"
fi
status=0
posenc history "$@" --since "$POSENC_SINCE" --format markdown -o $folder/changes.md || status=$?
posenc history "$@" --format html -o $folder/index.html || [ $? -eq 1 ] || rm -f $folder/index.html
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat $folder/changes.md >>"$GITHUB_STEP_SUMMARY"; fi
exit $status
