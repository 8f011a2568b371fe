#!/bin/sh
# SPDX-License-Identifier: MIT
# Verifies with an array of N jobs of Slurm, each of which does a shard, and then merges their records, in this folder:
#
#   submit.sh N OPTION...      submit.sh 64 --kernel cr-portable --len 67108864 --dim 1024 --exhaustive
#
# accuracy.json is the record of the whole. If shards were lost, merge.log names them, and tells the command that does
# one again; what is there is kept when all is submitted again.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 N OPTION..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
count=$1
shift
job=$(sbatch --parsable --array="1-$count" --export="ALL,SHARD=auto/$count" -o 'part-%a.log' "$here/verify.sbatch" "$@")
sbatch --dependency="afterany:${job%%;*}" -o merge.log --wrap 'posenc merge part-*.json -o accuracy.json'
