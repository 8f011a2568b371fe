#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests --shard auto, which reads the shard from variables of launchers, faked here; names of files by shard; --resume.
# shellcheck disable=SC2034,SC2086,SC2154 # the environment comes from make
. "${srcdir:-.}/tests/command.sh"
# The tests may run under a launcher, so its variables are removed.
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_STEP \
  SLURM_PROCID SLURM_NTASKS SLURM_STEP_NUM_TASKS SLURM_JOB_ID SLURM_STEP_ID OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE \
  PMI_RANK PMI_SIZE JOB_COMPLETION_INDEX GTEST_SHARD_INDEX GTEST_TOTAL_SHARDS GTEST_SHARD_STATUS_FILE TEST_SHARD_INDEX \
  TEST_TOTAL_SHARDS TEST_SHARD_STATUS_FILE SHARD
small='verify --kernel naive --len 4 --dim 4 --search 0 --brief --format json'
with() { # VARIABLE=VALUE... -- VALUE-OF-SHARD ; more in $options
  variables=
  while [ "$1" != -- ]; do
    variables="$variables $1"
    shift
  done
  env $variables "$POSENC" $small --shard "$2" ${options-} >out 2>err
  status=$?
}
is() { # I/N VARIABLE=VALUE... -- VALUE
  is_part=$1
  shift
  with "$@"
  [ ! -s err ] && [ "$(sed -n 's/^    "\(number\|of\)": \([0-9]*\),*$/\2/p' out | tr '\n' /)" = "$is_part/" ]
}
says_no() { # TEXT VARIABLE=VALUE... -- VALUE : one line, status 2, nothing written
  text=$1
  shift
  with "$@"
  [ $status -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err
}

array='SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=8'
check 'an array of Slurm' is 3/8 $array SLURM_ARRAY_TASK_ID=3 -- auto
check 'from 0 on' is 1/4 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 -- auto
steps='SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=35 SLURM_ARRAY_TASK_STEP=10'
check 'in steps of 10' is 3/4 $steps SLURM_ARRAY_TASK_ID=25 -- auto/4
check 'whose script is a rank alone' is 3/8 $array SLURM_ARRAY_TASK_ID=3 SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=1 \
  -- auto
check 'with ranks in each' is 10/32 $array SLURM_ARRAY_TASK_ID=3 SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 \
  SLURM_NTASKS=4 -- auto
check 'a step of Slurm' is 2/4 SLURM_PROCID=1 SLURM_NTASKS=4 -- auto
check 'that has the variables of its job' \
  is 2/4 SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=4 -- auto
check 'Open MPI' is 4/4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 -- auto
check 'Open MPI in the script of a job of Slurm' \
  is 4/4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 -- auto
check 'PMI' is 1/2 PMI_RANK=0 PMI_SIZE=2 -- auto
check 'PMI and Slurm, which agree' is 2/4 PMI_RANK=1 PMI_SIZE=4 SLURM_PROCID=1 SLURM_NTASKS=4 -- auto
check 'Kubernetes' is 6/9 JOB_COMPLETION_INDEX=5 -- auto/9
check 'with ranks in each' is 23/36 JOB_COMPLETION_INDEX=5 PMI_RANK=2 PMI_SIZE=4 -- auto/36
check 'Google Test' is 2/3 GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3 GTEST_SHARD_STATUS_FILE=told -- auto
check 'is told' test -e told
check 'Bazel' is 3/3 TEST_SHARD_INDEX=2 TEST_TOTAL_SHARDS=3 TEST_SHARD_STATUS_FILE=told-too -- auto
check 'is told' test -e told-too
check 'the number in auto/N agrees' is 1/2 PMI_RANK=0 PMI_SIZE=2 -- auto/2
check 'one of two that contradict each other' \
  is 2/4 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=2 -- auto:open-mpi

no() { # NAME TEXT VARIABLE=VALUE... -- VALUE
  name=$1
  shift
  check "refused: $name" says_no "$@"
}
no 'no variables' "--shard auto: no variables of " X=1 -- auto
no 'the script of a job, not a step' 'no variables of ' SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 -- auto
no 'the shell of salloc' 'no variables of ' SLURM_JOB_ID=7 SLURM_STEP_ID=4294967290 SLURM_PROCID=0 SLURM_NTASKS=8 \
  SLURM_STEP_NUM_TASKS=1 -- auto
no 'a step, in a script' 'its variables are not set, or are the job' SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 \
  -- auto:slurm-step
no 'two ranks' 'OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 and PMI_RANK=2 PMI_SIZE=4 contradict each other' \
  OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMI_RANK=2 PMI_SIZE=4 -- auto
no 'two sizes' 'SLURM_PROCID=1 SLURM_NTASKS=2 and PMI_RANK=1 PMI_SIZE=4 contradict' \
  SLURM_PROCID=1 SLURM_NTASKS=2 PMI_RANK=1 PMI_SIZE=4 -- auto
no 'two tests' 'contradict' GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3 TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=2 -- auto
no 'another N' 'the variables tell of 4 shards' PMI_RANK=1 PMI_SIZE=4 -- auto/3
no 'Kubernetes without N' 'JOB_COMPLETION_INDEX=5 does not tell of how many' JOB_COMPLETION_INDEX=5 -- auto
no 'ranks that do not divide N' 'the variables tell of 12 shards' JOB_COMPLETION_INDEX=1 PMI_RANK=2 PMI_SIZE=4 -- auto/9
no 'an index beyond N' 'JOB_COMPLETION_INDEX=9 is none of the shards' JOB_COMPLETION_INDEX=9 -- auto/9
no 'a rank beyond the size' 'PMI_RANK=4 PMI_SIZE=4 is none of the shards' PMI_RANK=4 PMI_SIZE=4 -- auto
no 'no size' 'PMI_RANK=0 lacks its number of shards' PMI_RANK=0 -- auto
no 'no rank' 'PMI_RANK= PMI_SIZE=4 lacks the number of this shard' PMI_SIZE=4 -- auto
no 'no number' 'PMI_RANK=one is not a whole number' PMI_RANK=one PMI_SIZE=4 -- auto
no 'a negative one' 'PMI_RANK=-1 is not a whole number' PMI_RANK=-1 PMI_SIZE=4 -- auto
no 'too many' 'PMI_SIZE=10001 is more than 10000 shards' PMI_RANK=0 PMI_SIZE=10001 -- auto
no 'too many together' 'more than 10000 shards' $array SLURM_ARRAY_TASK_ID=3 PMI_RANK=0 PMI_SIZE=9999 -- auto
no 'an array with gaps' 'has gaps, or is a part of an array' SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 \
  SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=1 -- auto
no 'an array from elsewhere on' 'may be a part of an array' $steps SLURM_ARRAY_TASK_ID=25 -- auto
one='SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_STEP=1'
no 'the third task, submitted alone' 'may be a part of an array' $one SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 \
  SLURM_ARRAY_TASK_MAX=3 -- auto
no 'so is the first' 'may be a part of an array' $one SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 \
  SLURM_ARRAY_TASK_MAX=1 -- auto
no 'of eight' 'the variables tell of 1 shards' $one SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 \
  SLURM_ARRAY_TASK_MAX=3 -- auto/8
no 'a task between the steps' 'is none of the shards' SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=4 \
  SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=2 -- auto
no 'a launcher that is not there' 'that launcher has not started this process' PMI_RANK=1 PMI_SIZE=4 -- auto:gtest
no 'a launcher that is none' 'not one of auto:slurm-array' PMI_RANK=1 PMI_SIZE=4 -- auto:mpi
no 'a file that cannot be made' 'TEST_SHARD_STATUS_FILE=none/x: ' TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=2 \
  TEST_SHARD_STATUS_FILE=none/x -- auto
for text in autos auto/ auto/0 auto/x auto/2x auto/10001 aut; do
  no "--shard $text" "--shard $text: not auto, auto/N or I/N" PMI_RANK=1 PMI_SIZE=2 -- "$text"
done

# ---- files
options='-o part-%I.json'
for rank in 0 1; do with PMI_RANK=$rank PMI_SIZE=2 -- auto; done
check 'a file for each shard' "$POSENC" merge part-1.json part-2.json -o all.json
options='-o part-%I.json --resume'
touch -d 2020-01-01 part-1.json
with PMI_RANK=0 PMI_SIZE=2 -- auto
check 'what is done is not done again' test ! part-1.json -nt all.json
rm part-2.json
check 'without one' is_refused 'shard 2 of 2 is missing; to do shard 2: posenc verify' merge part-1.json
again=$(sed -n 's/^.*to do shard 2: posenc //; s/ -o FILE / /p' err)
check 'its command is told' [ "$again" = "verify --shard 2/2 ${small#verify }" ]
check 'and does it' ends 0 $again -o part-2.json
check 'so that all are there' ends 0 merge part-1.json part-2.json
options='-o part-1.json --resume --seed 2'
no 'the file of another command' 'is not the record of this shard' PMI_RANK=0 PMI_SIZE=2 -- auto
options='-o part-1.json --resume'
no 'the file of another shard' 'is not the record of this shard' PMI_RANK=1 PMI_SIZE=2 -- auto
sed 's/"build": "[0-9a-f]*"/"build": ""/' part-2.json >part-1.json
no 'the file of an unknown build' 'is not the record of this shard' PMI_RANK=1 PMI_SIZE=2 -- auto
if [ ! -x "$abs_top_builddir/.libs/posenc" ]; then skip 'the file of another build' 'no shared library'; else
  mkdir other
  cp -P "$abs_top_builddir"/.libs/posenc "$abs_top_builddir"/.libs/libposenc.so* other/
  shared() { # FOLDER: this shard by the program and the library there
    env PMI_RANK=0 PMI_SIZE=2 LD_LIBRARY_PATH="$work/$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ${EMULATOR-} \
      "$work/$1/posenc" $small --shard auto -o same.json --resume >out 2>err
  }
  check 'a build' shared other
  check 'is that build' shared other
  cp -R other changed
  echo >>changed/posenc
  check 'that of another program is not kept' eval '! shared changed && grep -q "not the record of this shard" err'
  cp other/posenc changed/posenc
  check 'of the same, it is' shared changed
  echo >>"$(readlink -f changed/libposenc.so.0)"
  check 'nor is that of another library' eval '! shared changed && grep -q "not the record of this shard" err'
fi
rm part-1.json
with PMI_RANK=0 PMI_SIZE=2 -- auto
cp part-1.json before.json
sed '/^  "records":/,$s/"refusal": null/"refusal": "out of memory"/' before.json >part-1.json
check 'a shard that lacked memory' eval '! cmp -s before.json part-1.json'
with PMI_RANK=0 PMI_SIZE=2 -- auto
check 'is done again' eval '[ $status -eq 0 ] && ! grep -q "out of memory" part-1.json'
cp part-2.json part-1.json
check 'that of this one is kept' with PMI_RANK=1 PMI_SIZE=2 -- auto
echo '{' >part-1.json
no 'a file that is no record' 'part-1.json' PMI_RANK=0 PMI_SIZE=2 -- auto
set -- verify --kernel naive --len 0 --dim 4 --search 0 --brief --format json --shard 1/2 -o empty.json --resume
fails() { posenc "$@"; [ $status -eq 1 ]; }
check 'nothing is compared' fails "$@"
check 'nor when it is resumed' fails "$@"
check 'abbreviated options' ends 0 $small --shar 1/2 --outp short.json
check 'are no part of the command' \
  is_refused "to do shard 2: posenc verify --shard 2/2 -o FILE ${small#verify }" merge short.json
long=$(seq -s, 0 400)
listed='verify --kernel naive --dim 4 --search 0 --brief --format json'
check 'a command of a thousand bytes' ends 0 $listed --shard 1/2 --positions "$long" -o long.json
check 'is told whole' is_refused "--shard 2/2 -o FILE .*--positions $long\$" merge long.json
check 'no shard' is_refused '--resume: is for --shard' $small --resume
check 'no file' is_refused '--resume: needs --output' $small --shard 1/2 --resume
check 'no record' is_refused '--resume: is for --format json' \
  verify --kernel naive --len 4 --dim 4 --shard 1/2 --resume -o part.tap
check '%I without a shard' is_refused '--output part-%I.json: %I is for --shard' $small -o part-%I.json
check 'is a name elsewhere' ends 0 write --len 4 --dim 4 -o table-%I.npy
echo 1 2 3 >places
listed="$listed --positions @places --shard 1/1 --resume"
check 'a list of positions' ends 0 $listed -o list.json
check 'that of this list is kept' ends 0 $listed -o list.json
echo 1 2 4 >places
check 'not that of another' is_refused 'is not the record of this shard' $listed -o list.json
brief='verify --brief --budget 500 --search 0 --format json'
everything="$brief --shard 40/40 --resume"
check 'a run with other encodings' ends 0 $everything -o encodings.json
check 'which the record tells' contains encodings.json '"encodings": true'
check 'and that of chosen kernels not' contains list.json '"encodings": false'
check 'the last shard looks at them' contains encodings.json '"schema": "posenc-encodings-1"'
check 'the first shard' ends 0 $brief --shard 1/40 -o first.json
check 'does not' test "$(grep -c posenc-encodings-1 first.json)" -eq 0
touch -d 2020-01-01 encodings.json
check 'is resumed, too' ends 0 $everything -o encodings.json
check 'and not done again' test ! encodings.json -nt all.json

# ---- examples/slurm/: the task of an array, with the options of the script
mkdir bin jobs
printf '#!/bin/sh\nexec "%s" "$@"\n' "$POSENC" >bin/posenc
chmod +x bin/posenc
task() { # VARIABLE=VALUE...
  (cd jobs && env PATH="$work/bin:$PATH" "$@" sh "$root/examples/slurm/verify.sbatch" --kernel naive --len 4 --dim 4 \
    --search 0 --brief) >out 2>err
}
printf '#!/bin/sh\necho "$@" >>jobs/submitted\necho 7\n' >bin/sbatch
chmod +x bin/sbatch
check 'submit.sh' env PATH="$work/bin:$PATH" sh "$root/examples/slurm/submit.sh" 64 --len 8 --dim 4
check 'submits an array, which knows its number of tasks' \
  grep -q -e '--array=1-64 .*--export=ALL,SHARD=auto/64 .*verify.sbatch --len 8 --dim 4$' jobs/submitted
check 'and the merge of what it makes' grep -q -e '--dependency=afterany:7 .*posenc merge part-\*.json' jobs/submitted
check 'a task of it' task SHARD=auto/2 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_ID=1
check 'a task alone is refused' \
  eval '! task SHARD=auto/2 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_ID=2'
rm jobs/part-1.json
half='SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1'
check 'a task of an array' task $half SLURM_ARRAY_TASK_ID=1
check 'the other, alone' task SHARD=2/2
check 'are merged' ends 0 merge jobs/part-1.json jobs/part-2.json -o all.json

# ---- real launchers
rm -f jobs/*
if command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --oversubscribe -n 2 "$POSENC" $small --shard auto -o 'jobs/part-%I.json' >out 2>err
  check 'mpirun' ends 0 merge jobs/part-1.json jobs/part-2.json -o all.json
else
  skip 'mpirun' 'no Open MPI'
fi
rm -f jobs/*
if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
  seq 2 | parallel "$POSENC" $small --shard '{}/2' -o jobs/part-%I.json >out 2>err
  check 'GNU parallel' ends 0 merge jobs/part-1.json jobs/part-2.json -o all.json
else
  skip 'GNU parallel' 'it is not here'
fi
plan
exit "$tap_failed"
