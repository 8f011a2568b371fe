#!/bin/sh
# SPDX-License-Identifier: MIT
# Verifies one table in 64 shards by Slurm, mpirun and GNU parallel on this machine, and kills two workers during the
# run. The missing shards are computed again, and the merged record must equal that of the whole run.
#
#   tools/shards.sh [LOG2-OF-ELEMENTS [ENGINE...]]     defaults: 36, all three engines
#
# POSENC: the command, by default posenc. KERNEL: by default cr-portable. Slurm's controller and daemon, and munge
# (Debian's slurm-wlm and munge), are started on the loopback interface, as root, in a folder that is removed at the
# end. The other engines are in openmpi-bin and parallel.
set -u
POSENC=${POSENC:-posenc}
KERNEL=${KERNEL:-cr-portable}
export POSENC KERNEL OMP_WAIT_POLICY=passive
exponent=${1:-36}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- slurm mpirun parallel
command -v "$POSENC" >/dev/null || { echo "no command $POSENC; set POSENC" >&2; exit 2; }
POSENC=$(command -v "$POSENC")
len=$((1 << (exponent - 10)))
export len
folder=$(mktemp -d) || exit 2
chmod 711 "$folder"
pids=
finish() {
  for pid in $pids; do kill "$pid" 2>/dev/null; done
  cd / && rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM
cd "$folder" || exit 2
cat >worker <<'END'
#!/bin/sh
# SHARD NUMBER: the file pid-NUMBER has the id of the shard's process
echo $$ >"pid-$2"
exec "$POSENC" verify --kernel "$KERNEL" --len "$len" --dim 1024 --exhaustive --search 0 --brief --format json \
  --shard "$1" -o 'part-%I.json' --resume
END
chmod +x worker
seconds() { echo $(($(date +%s) - begin)); }
record() { grep -vE '^ *"(date|load)":' "$1"; }

begin=$(date +%s)
"$POSENC" verify --kernel "$KERNEL" --len "$len" --dim 1024 --exhaustive --search 0 --brief --format json \
  -o whole.json || exit 1
echo "whole: 2^$exponent elements in $(seconds) s"

# Kills two workers after their shards have begun.
kill_two() {
  killed=0 tries=0
  while [ $killed -lt 2 ] && [ $tries -lt 6000 ]; do
    for file in pid-*; do
      number=${file#pid-}
      [ -e "$file" ] && [ ! -e "part-$number.json" ] && [ ! -e "killed-$number" ] || continue
      [ -n "$(find "$file" -newermt '-1 second')" ] && continue # the process may not have started yet
      kill -9 "$(cat "$file")" 2>/dev/null || continue
      touch "killed-$number"
      killed=$((killed + 1))
      [ $killed -lt 2 ] || break
    done
    tries=$((tries + 1))
    sleep 0.1
  done
  echo "  killed: $(ls -d killed-* 2>/dev/null | tr '\n' ' ')"
}

start_slurm() {
  mkdir -p daemons/state daemons/spool daemons/munge && chmod 700 daemons/munge &&
    head -c 1024 /dev/urandom >daemons/munge/key && chmod 600 daemons/munge/key || return
  munge=$folder/daemons/munge
  munged --key-file="$munge/key" --socket="$munge/socket" --pid-file="$munge/pid" --log-file="$munge/log" \
    --seed-file="$munge/seed" --force || return
  host=$(hostname -s)
  cat >daemons/slurm.conf <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$munge/socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPidFile=$folder/daemons/slurmctld.pid
SlurmdPidFile=$folder/daemons/slurmd.pid
SlurmctldPort=16827
SlurmdPort=16828
SlurmdSpoolDir=$folder/daemons/spool
StateSaveLocation=$folder/daemons/state
SlurmctldLogFile=$folder/daemons/slurmctld.log
SlurmdLogFile=$folder/daemons/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  export SLURM_CONF="$folder/daemons/slurm.conf"
  slurmctld -c && sleep 3 && slurmd && sleep 3 && sinfo -h | grep -q idle
  started=$?
  for pid in slurmctld slurmd munge/pid; do
    file=daemons/$pid
    [ -e "$file" ] || file=daemons/$pid.pid
    [ -e "$file" ] && pids="$(cat "$file") $pids"
  done
  return $started
}

run_slurm() {
  echo '#!/bin/sh
OMP_NUM_THREADS=1 exec ./worker auto $SLURM_ARRAY_TASK_ID' >job
  sbatch -Q --array=1-64 -n 1 -o 'log-%a' job || return
  kill_two
  while squeue -h | grep -q .; do sleep 1; done
}

# Open MPI ends all ranks if one is killed. Finished shards are kept when it is started again.
run_mpirun() {
  ranks='mpirun --allow-run-as-root --oversubscribe -n 64 --bind-to none'
  OMP_NUM_THREADS=1 $ranks sh -c './worker auto $((OMPI_COMM_WORLD_RANK + 1))' >log 2>&1 &
  kill_two
  wait $!
  echo "  mpirun ended with status $?, and left $(ls part-*.json 2>/dev/null | wc -l) shards; again"
  OMP_NUM_THREADS=1 $ranks sh -c './worker auto $((OMPI_COMM_WORLD_RANK + 1))' >log 2>&1
}

run_parallel() {
  seq 64 | OMP_NUM_THREADS=1 parallel --joblog jobs -j "$(nproc)" ./worker '{}/64' '{}' >log 2>&1 &
  kill_two
  wait $!
}

failed=0
for engine; do
  rm -f part-* pid-* killed-* merged.json
  tool=$engine
  [ "$engine" = slurm ] && tool=slurmctld
  command -v $tool >/dev/null || { echo "$engine: not here"; continue; }
  [ "$engine" != slurm ] || start_slurm ||
    { echo "slurm: its daemons do not run here"; cat daemons/*.log; failed=1; continue; }
  begin=$(date +%s)
  echo "$engine: 64 shards"
  "run_$engine"
  echo "  $(ls part-*.json | wc -l) shards in $(seconds) s"
  for again in 1 2 3; do
    "$POSENC" merge part-*.json -o merged.json 2>missing && break
    cat missing
    line=$(sed -n 's/.*; to do shard [0-9]*: posenc \(.*\) -o FILE \(.*\)$/\1 \2/p' missing)
    [ -n "$line" ] || break
    # shellcheck disable=SC2086 # the words of a command
    "$POSENC" $line -o 'part-%I.json' && echo "  done again, alone"
  done
  if [ -e merged.json ] && record whole.json >one && record merged.json >other && cmp one other; then
    begin_merge=$(date +%s%N)
    "$POSENC" merge part-*.json -o merged.json
    echo "  merged in $((($(date +%s%N) - begin_merge) / 1000000)) ms: the record of the whole run, to the last bit"
  else
    echo "  not the record of the whole run"
    failed=1
  fi
done
exit $failed
