#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# NCCL's settings that take turns within a launch (--vary), on the fake GPU machine.
load backend

vary() {  # vary COLLECTIVE NAME=a,b OPTIONS...
  rm -f "$DIR/a.csv" "$DIR/trace"
  run -0 env FAKE_NCCL_TRACE="$DIR/trace" timeout 60 mpirun -np 2 "./$1_perf" --backend nccl -b 4K -e 4K -w 1 -T 60 \
    --time-budget 0.1 --visits 4 --csv "$DIR/a.csv" --vary "$2" "${@:3}"
  echo "$output"
}

@test "each value has a communicator of its own, and the default the first" {
  vary allreduce max_ctas=default,2,4
  [ "$(grep '^comm rank=0' "$DIR/trace" | grep -o 'max_ctas=[^ ]*' | cut -d= -f2 | tr '\n' ' ')" = "- 2 4 " ]
  [ "$(column variant,in_place,wrong "$DIR/a.csv" | tr '\n' ' ')" = "max_ctas=default|0|0 max_ctas=default|1|0 \
max_ctas=2|0|0 max_ctas=2|1|0 max_ctas=4|0|0 max_ctas=4|1|0 " ]
  [[ $output == *$'\n# 4: '* ]]
}

@test "from NCCL 2.31 on each operation has a configuration of its own" {
  export FAKE_NCCL_VERSION=23102
  for collective in allreduce reduce broadcast reducescatter allgather alltoall gather scatter; do
    vary $collective algorithm=default,ring,tree
    [ "$(column status,wrong "$DIR/a.csv" | grep -c '^ok|0*$')" -eq 6 ]
    [ "$(grep -c '^comm rank=0 ' "$DIR/trace")" -eq 1 ]
    [ "$(grep -o '^call [^ ]* algorithm=[a-z]*' "$DIR/trace" | sort -u | grep -o '[^=]*$' | tr '\n' ' ')" = "ring tree " ]
  done
  vary allreduce max_ctas=default,3
  [ "$(grep '^call ' "$DIR/trace" | sort -u)" = "call ncclAllReduceConfig algorithm=- max_ctas=3" ]
  vary sendrecv max_ctas=default,3 --placement out
  [ "$(column status,variant "$DIR/a.csv" | tr '\n' ' ')" = "ok|max_ctas=default skipped|max_ctas=3 " ]
}

@test "graphs take turns with operations that are issued" {
  vary allreduce cudagraph=default,2 --placement out
  [ "$(column variant,wrong,flags "$DIR/a.csv" | grep -c 'cudagraph=2|0|.*graph')" -eq 1 ]
  [ "$(column variant,flags "$DIR/a.csv" | grep -c 'cudagraph=default|.*graph')" -eq 0 ]
}

@test "what NCCL cannot vary is one line" {
  COMMAND=(timeout 60 mpirun -np 2 ./allreduce_perf --backend nccl)
  refused "algorithm: it comes with NCCL 2.31.0" --vary algorithm=default,ring
  refused "'many' is not a whole number" --vary max_ctas=default,many
  refused "only algorithm, min_ctas" --vary channels=1,2
  refused "-R and --vary" --vary max_ctas=1,2 -R 1
  NCCL_MAX_CTAS=4 refused "NCCL_MAX_CTAS would have the last word" --vary max_ctas=1,2
}
