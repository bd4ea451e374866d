#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar doctor on a captured tree of a machine with eight GPUs, RoCE and a PCIe switch: healthy, and with one problem at a
# time.
load ../common

setup() {
  DIR=$BATS_TEST_TMPDIR
  TREE=$DIR/tree
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  unset "${!NCCL_@}" LD_LIBRARY_PATH
  export HOME=/home/none
  healthy_tree
  smi "550.54.14, Enabled, Completed"
}
put() { # put FILE TEXT
  mkdir -p "$TREE/$(dirname "$1")"
  printf '%b\n' "$2" > "$TREE/$1"
}
bytes() { # bytes FILE OFFSET HEX... : of a configuration space
  printf '%b' "$(printf '\\x%s' "${@:3}")" | dd of="$TREE/$1" bs=1 seek="$(($2))" conv=notrunc status=none
}
# A bridge from bus 3a to buses 3b to 3c: a port of a switch (express capability at 40) with ACS (at 100) that is off.
bridge() {
  put "$1/class" 0x060400
  truncate -s 4096 "$TREE/$1/config"
  bytes "$1/config" 0x0e 01
  bytes "$1/config" 0x18 3a 3b 3c
  bytes "$1/config" 0x34 40
  bytes "$1/config" 0x40 10 00 62 00
  bytes "$1/config" 0x100 0d 00 01 00 00 00 00 00
}
PORT=sys/class/infiniband/mlx5_0/ports/1
DEVICES=sys/bus/pci/devices
healthy_tree() {
  put proc/cpuinfo 'processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C'
  put proc/self/limits 'Limit  Soft Limit  Hard Limit  Units\nMax open files            65536                65536                files'
  echo 'Max locked memory         unlimited            unlimited            bytes' >> "$TREE/proc/self/limits"
  put proc/self/status 'CapEff:\t0000000000000000'
  put proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14'
  put proc/sys/kernel/osrelease 5.15.0-100-generic
  put proc/sys/kernel/numa_balancing 0
  put proc/sys/kernel/sched_autogroup_enabled 0
  put sys/kernel/mm/transparent_hugepage/enabled 'always [madvise] never'
  put sys/devices/system/cpu/online 0-223
  put sys/devices/system/cpu/cpu0/cpufreq/scaling_governor performance
  put sys/devices/system/cpu/cpu0/topology/physical_package_id 0
  put sys/devices/system/node/has_cpu 0
  put sys/class/dmi/id/sys_vendor NVIDIA
  put sys/module/nvidia/version 550.54.14
  put sys/module/nvidia_peermem/version 550.54.14
  put sys/class/infiniband/mlx5_0/device/vendor 0x15b3
  put $PORT/state '4: ACTIVE'
  put $PORT/link_layer Ethernet
  put $PORT/gid_attrs/types/1 'IB/RoCE v1'
  put $PORT/gids/1 fe80:0000:0000:0000:0ac0:ebff:fe11:2233
  put $PORT/gid_attrs/types/3 'RoCE v2'
  put $PORT/gids/3 0000:0000:0000:0000:0000:ffff:0a00:0004
  put $PORT/gids/4 0000:0000:0000:0000:0000:0000:0000:0000
  for i in 0 1 2 3 4 5 6 7; do put dev/nvidia$i ''; done
  put $DEVICES/0000:3b:00.0/class 0x030200
  put $DEVICES/0000:3b:00.0/vendor 0x10de
  put $DEVICES/0000:3b:00.0/iommu_group/type identity
  bridge $DEVICES/0000:3a:04.0
}
# smi VALUES: an nvidia-smi of eight GPUs that knows driver_version, persistence_mode and fabric.state only.
smi() {
  executable "$DIR/smi" <<END
case "\$1" in --query-gpu=*) ;; *) exit 0 ;; esac
known=index
for column in \$(echo "\${1#--query-gpu=index,}" | tr , ' '); do
  case \$column in
    driver_version | persistence_mode | fabric.state | fabric.clusterUuid) ;;
    *) echo "Field \"\$column\" is not a valid field to query."; exit 2 ;;
  esac
done
for gpu in 0 1 2 3 4 5 6 7; do echo "\$gpu, $1, ${2:-00000000-0000-0000-0000-000000000000}"; done
END
}
doctor() { run --separate-stderr ./busbar doctor --sysroot "$TREE" --nvidia-smi "$DIR/smi" "$@"; }
healthy() { doctor; echo "$output"; [ "$output" = "no problems found" ]; }
# finds CHECK FIX: this problem and no other, with a command that has these words.
finds() {
  doctor
  echo "$output"
  [ "$status" -eq 1 ]
  [[ ${lines[0]} == "$1: problem: "* ]]
  [[ ${lines[1]} == "    "*"$2"* ]]
  [ "${lines[2]}" = "1 problem found" ]
}
# hints CHECK FIX: this hint, which is no problem.
hints() {
  doctor
  [ "$output" = "no problems found, 1 hint (--all)" ]
  doctor --all
  [[ $output == *"$1: hint: "*$'\n    '*"$2"* ]]
}

@test "a healthy machine is one line" {
  healthy
  [ -z "$stderr" ]
}
@test "settings of the kernel are found, each with the command that fixes it" {
  with() { healthy_tree; put "${@:3}"; finds "$1" "$2"; }  # with CHECK FIX FILE TEXT
  with huge-pages "echo madvise | sudo tee" sys/kernel/mm/transparent_hugepage/enabled 'always madvise [never]'
  with numa-balancing "sysctl -w kernel.numa_balancing=0" proc/sys/kernel/numa_balancing 1
  with cpu-governor "echo performance" sys/devices/system/cpu/cpu1/cpufreq/scaling_governor powersave
  healthy_tree
  put sys/devices/system/cpu/cpu1/cpufreq/scaling_governor performance
  put proc/sys/kernel/sched_autogroup_enabled 1
  hints autogroup "--bind core"
}
@test "limits are found: locked memory but for who has CAP_IPC_LOCK, and open files for a rank per processor" {
  sed -i 's/^Max locked memory *unlimited/Max locked memory 8388608/' "$TREE/proc/self/limits"
  finds locked-memory memlock
  put proc/self/status 'CapEff:\t0000000000004000'
  healthy
  sed -i 's/^Max open files *65536/Max open files 900/' "$TREE/proc/self/limits"
  finds open-files "ulimit -n 4096"
}
@test "the IOMMU and ACS in the way of peer-to-peer are found; what root alone can read is named" {
  put $DEVICES/0000:3b:00.0/iommu_group/type DMA-FQ
  finds iommu iommu=pt
  put $DEVICES/0000:3b:00.0/iommu_group/type identity
  bytes $DEVICES/0000:3a:04.0/config 0x106 1d 00
  finds acs "for p in 0000:3a:04.0; do sudo setpci"
  bytes $DEVICES/0000:3a:04.0/config 0x42 42
  hints acs-root setpci
  bytes $DEVICES/0000:3a:04.0/config 0x19 50 60  # not above the GPU
  healthy
  truncate -s 64 "$TREE/$DEVICES/0000:3a:04.0/config"
  doctor --all
  [ "$status" -eq 0 ]
  [[ $output == *"acs: not looked at: pcie.acs: root may read it"* ]]
}
@test "persistence mode, the NVLink fabric, IMEX and mixed drivers are found" {
  smi "550.54.14, Disabled, Completed"
  finds persistence-mode "nvidia-smi -pm 1"
  [[ $output == *"gpu0, gpu1, gpu2 and 5 more"* ]]
  smi "550.54.14, Enabled, In Progress"
  finds nvlink-fabric fabricmanager
  smi "550.54.14, Enabled, Completed" 8a6f2c11-0000-4000-8000-000000000001
  finds imex "mknod -m 666"
  mkdir -p "$TREE/dev/nvidia-caps-imex-channels"
  touch "$TREE/dev/nvidia-caps-imex-channels/channel0"
  healthy
  smi "535.104.05, Enabled, Completed"
  finds gpu-driver reboot
  printf '#!/bin/sh\necho "Failed to initialize NVML: Driver/library version mismatch"; exit 18\n' > "$DIR/smi"
  finds gpu-driver reboot
  [[ $output == *"exits with 18: Failed to initialize NVML"* ]]
  rm "$TREE"/dev/nvidia[0-9]  # a container without GPUs
  healthy
}
@test "GPUDirect RDMA needs nvidia_peermem, or dma-buf of a new kernel with the open modules" {
  rm -r "$TREE/sys/module/nvidia_peermem"
  finds gpudirect-rdma "modprobe nvidia-peermem"
  put proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14'
  healthy
  put proc/sys/kernel/osrelease 5.4.0-100-generic
  finds gpudirect-rdma "modprobe nvidia-peermem"
}
@test "GIDs are found that NCCL_IB_GID_INDEX or an interface without an address makes wrong" {
  NCCL_IB_GID_INDEX=1 finds gid "unset NCCL_IB_GID_INDEX"
  NCCL_IB_GID_INDEX=7 finds gid "unset NCCL_IB_GID_INDEX"
  for words in NCCL_IB_GID_INDEX=3 "NCCL_IB_GID_INDEX=1 NCCL_IB_HCA=^mlx5_0"; do
    # shellcheck disable=SC2086 # variables of a command
    run -0 env $words ./busbar doctor --sysroot "$TREE" --nvidia-smi "$DIR/smi"
  done
  put etc/nccl.conf NCCL_IB_GID_INDEX=1
  finds gid nccl.conf
  rm "$TREE/etc/nccl.conf"
  put $PORT/gids/3 fe80:0000:0000:0000:0ac0:ebff:fe11:2233
  finds gid "ip address add"
  put $PORT/state '2: INIT'
  finds port-state opensm
}
@test "the network's plugin is looked for where the loader looks, on machines of AWS and Google" {
  put sys/class/infiniband/mlx5_0/device/vendor 0x1d0f
  finds network-plugin /opt/amazon/ofi-nccl/lib
  put etc/ld.so.conf.d/ofi.conf /opt/amazon/ofi-nccl/lib
  put opt/amazon/ofi-nccl/lib/libnccl-net.so ''
  healthy
  healthy_tree
  rm -r "${TREE:?}/etc"
  put sys/class/dmi/id/sys_vendor Google
  finds network-plugin /usr/local/gib
  put usr/local/gib/lib64/libnccl-net_internal.so ''
  LD_LIBRARY_PATH=/usr/local/gib/lib64 doctor
  [ "$status" -eq 0 ]
}
@test "GPUs without NVLink on EPYC with one NUMA node per socket are a hint" {
  put proc/cpuinfo 'model name\t: AMD EPYC 7742 64-Core Processor'
  hints nps NPS4
  put sys/devices/system/node/has_cpu 0-3
  healthy
}
@test "without GPUs and adapters nothing that needs them is looked at" {
  rm -r "${TREE:?}"/{sys/class/infiniband,proc/driver,dev} "$TREE/sys/bus"
  sed -i 's/unlimited/65536/' "$TREE/proc/self/limits"
  run --separate-stderr env NCCL_IB_GID_INDEX=1 ./busbar doctor --sysroot "$TREE"
  [ "$output" = "no problems found" ]
  doctor_json=$(./busbar doctor --sysroot "$TREE" --json)
  [ "$(jq -r '.hosts[0].findings[] | select(.check == "iommu") | .severity + ": " + .text' <<< "$doctor_json")" = "not looked at: no GPU" ]
}
@test "NCCL's own diagnostics are shown, and what they find is a problem" {
  mkdir "$DIR/programs"
  program() { # program LINE... : allreduce_perf that prints lines as NCCL 2.31 does
    executable "$DIR/programs/allreduce_perf" <<END
echo "\$NCCL_RUN_DIAGNOSTICS\$NCCL_RUN_RAS_DIAGNOSTICS \$*" > $DIR/asked
echo "$(printf 'h1:7 NCCL DIAG %s\n' "$@")"
END
  }
  program '[OK]   p2p: all 56 directed GPU P2P edges verified' '[INFO] GPU inventory: unavailable via NVML across 8 ranks in comm 0x1'
  doctor --programs "$DIR/programs"
  [ "$output" = "no problems found" ]
  [[ $(cat "$DIR/asked") == "11 --backend nccl -g 8 "* ]]
  doctor --programs "$DIR/programs" --all
  [[ $output == *"nccl-run: fine: NCCL: [OK]   p2p: all 56"* ]]
  program '[INFO] p2p: write mismatch srcRank=0 dstRank=1 expected=0x1 got=0x0' '[INFO] p2p: 55/56 directed GPU P2P edges verified'
  doctor --programs "$DIR/programs"
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = "nccl-run: problem: NCCL: [INFO] p2p: write mismatch srcRank=0 dstRank=1 expected=0x1 got=0x0" ]
  [ "${lines[4]}" = "2 problems found" ]
  printf '#!/bin/sh\necho "libnccl.so.2: cannot open shared object file" >&2; exit 3\n' > "$DIR/programs/allreduce_perf"
  doctor --programs "$DIR/programs"
  [[ $output == "nccl-run: problem: "*libnccl2* ]]
  doctor --programs "$DIR/programs" --no-run
  [ "$output" = "no problems found" ]
}
@test "files of facts are looked at host by host, and for what differs between hosts" {
  facts() { # facts HOST: the tree as this host's
    ./busbar facts --sysroot "$TREE" --nvidia-smi "$DIR/smi" -o "$DIR/$1.csv"
    sed -i "2,\$s/,[^,]*,/,$1,/" "$DIR/$1.csv"
  }
  facts h1
  facts h2
  run -0 ./busbar doctor "$DIR/h1.csv" "$DIR/h2.csv"
  [ "$output" = "no problems found" ]
  put sys/kernel/mm/transparent_hugepage/enabled 'always madvise [never]'
  put sys/module/nvidia/version 535.104.05
  smi "535.104.05, Enabled, Completed"
  facts h3
  run -1 ./busbar doctor "$DIR/h1.csv" "$DIR/h2.csv" "$DIR/h3.csv"
  [[ $output == *"h3: huge-pages: problem: "* ]]
  [[ $output == *"same: problem: driver version differs: 535.104.05 on h3; 550.54.14 on h1, h2"*$'\n    '"pdsh -w h3 "*550.54.14* ]]
  [[ $output == *"same: problem: nvidia: "*"3 problems found" ]]
}
@test "what facts mark in a file is a problem, and a hint about hosts that differ is printed" {
  put proc/sys/kernel/hostname h1
  put sys/class/net/e0/carrier_changes 1
  ./busbar facts --sysroot "$TREE" --nvidia-smi "$DIR/smi" -o "$DIR/1.csv"
  put sys/class/net/e0/carrier_changes 3
  ./busbar facts --sysroot "$TREE" --nvidia-smi "$DIR/smi" -o "$DIR/2.csv"
  run -1 ./busbar doctor "$DIR/1.csv" "$DIR/2.csv"
  [[ ${lines[0]} == "h1: hardware: problem: e0: carrier changes +2" ]]
  put proc/sys/kernel/hostname h2
  put proc/sys/kernel/osrelease 6.8.0-31-generic
  ./busbar facts --sysroot "$TREE" --nvidia-smi "$DIR/smi" -o "$DIR/3.csv"
  run -0 ./busbar doctor "$DIR/2.csv" "$DIR/3.csv"
  [[ $output == "same: hint: kernel release differs: "*" on h1; "*" on h2"*"no problems found" ]]
}
@test "a launcher of another MPI than the programs' is found, and one that is missing" {
  use_mpi
  mkdir "$DIR/bin"
  local other="mpirun (Open MPI) 4.1.4"
  [ "$BUSBAR_TEST_MPI" = mpich ] || other="HYDRA build details:"
  printf '#!/bin/sh\necho "%s"\n' "$other" > "$DIR/bin/mpirun"
  chmod +x "$DIR/bin/mpirun"
  PATH=$DIR/bin:$PATH run ./busbar doctor --no-run
  [ "$status" -eq 1 ]
  [[ $output == *"mpi-launcher: problem: mpirun is "*"$(mpi_title)"* ]]
  rm "$DIR/bin/mpirun"
  PATH=$DIR/bin run ./busbar doctor --no-run
  [[ $output == *"mpi-launcher: problem: PATH has no launcher"*"sudo apt-get install "* ]]
}
@test "an interface that NCCL would take and that leads nowhere is found" {
  unshare --net true 2> /dev/null || skip "network namespaces cannot be made"
  cat > "$DIR/network" <<'END'
ip link add pod0 type veth peer name pod1 && ip link add eth7 type veth peer name eth8 || exit 77
for i in pod0 pod1 eth7 eth8; do ip link set $i up; done
ip addr add 169.254.170.23/32 dev pod0
ip addr add 10.1.2.3/24 dev eth7
exec env "$@"
END
  in_network() { # in_network [NAME=VALUE...]: with these variables, GPUs, a link-local interface and another
    run --separate-stderr unshare --net sh "$DIR/network" "$@" ./busbar doctor --no-run --nvidia-smi "$DIR/smi" --json
    problem=$(jq -r '.hosts[0].findings[] | select(.check == "nccl-interface") | .severity + ": " + .text + " " + .cure' <<< "$output")
  }
  in_network
  [[ $problem == "problem: NCCL takes pod0 (169.254.170.23)"*"export NCCL_SOCKET_IFNAME==eth7" ]]
  in_network NCCL_SOCKET_IFNAME==eth7
  [[ $problem == "fine: "* ]]
}
@test "where nothing can be looked at the exit code is 3, and bad input is one line and exit code 2" {
  mkdir "$DIR/empty"
  COMMAND=(./busbar doctor)
  EXIT=3 refused "nothing could be looked at" --sysroot "$DIR/empty"
  refused "no such folder" --sysroot "$DIR/none"
  refused "not valid with files" --sysroot "$DIR" x.csv
  refused "none.csv" "$DIR/none.csv"
}
