// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/trace.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {

void trace(const std::string& line) {
  static const int kFile = [] {
    const char* path = std::getenv("FAKE_NCCL_TRACE");
    if (path == nullptr) return -1;
    const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) die(std::string("FAKE_NCCL_TRACE: cannot write ") + path);
    return file;
  }();
  if (kFile < 0) return;
  const std::string whole = line + "\n";  // in one call: all ranks write to one file
  if (::write(kFile, whole.data(), whole.size()) < 0) die("FAKE_NCCL_TRACE: cannot write");
}

}  // namespace fake_gpu
