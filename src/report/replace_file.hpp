// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace busbar {

/// Writes the whole file aside and renames it, so that a reader sees the old text or the new one
/// and never a part. For files that are made to be replaced, as those of node_exporter's textfile
/// collector. Throws a usage error that names `option` where the folder does not let it, and Error
/// (Runtime) where the disk is full.
void replace_file(const std::string& path, std::string_view text, std::string_view option);

}  // namespace busbar
