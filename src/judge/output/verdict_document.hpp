// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"
#include "report/document.hpp"

namespace busbar::judge {

/// What the page and the summary have in common; without pictures. The title begins with the
/// overall word. Sections: not-pass, suspects, nodes, contract.
[[nodiscard]] Document verdict_document(const Judgement& judgement,
                                        const Specification& specification);

/// What was agreed on, as it is in effect: the run, the noise gate, ceilings, the system, rules.
[[nodiscard]] Section contract_section(const Judgement& judgement,
                                       const Specification& specification);

}  // namespace busbar::judge
