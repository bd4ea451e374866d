# SPDX-License-Identifier: BSD-3-Clause
# Reads a rank's log of NCCL with the fake driver's lines between (FAKE_GPU_TRACE). Prints each use of a buffer that
# NCCL registered with a peer when other memory was behind its address than now.
/^fake map / { memory[$3] = NR }
/ IPC (registering|reuse) buffer / {
  match($0, /baseAddr 0x[0-9a-f]+/)
  base = substr($0, RSTART + 9, RLENGTH - 9)
  match($0, /to peer [0-9]+/)
  peer = substr($0, RSTART + 8, RLENGTH - 8)
  if (/registering/) registered[base, peer] = memory[base]
  else if (registered[base, peer] != memory[base]) print
}
