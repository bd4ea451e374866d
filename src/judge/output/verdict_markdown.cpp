// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_markdown.hpp"

#include "judge/output/verdict_document.hpp"
#include "report/document.hpp"

namespace busbar::judge {

std::string verdict_markdown(const Judgement& judgement, const Specification& specification) {
  return markdown_page(verdict_document(judgement, specification));
}

}  // namespace busbar::judge
