// SPDX-License-Identifier: BSD-3-Clause
#include "report/html_page.hpp"

namespace busbar {

std::string_view html_style() {
  return R"CSS(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem 1.25rem 4rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1rem 0 .5rem; }
h2 { font-size: 1.375rem; line-height: 1.3; margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 2px solid #d0d0d0; }
h3 { font-size: 1.125rem; margin: 1.75rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul { max-width: 52rem; margin: .5rem 0; overflow-wrap: anywhere; }
ul { padding-left: 1.25rem; }
li { margin: .25rem 0; }
.lead { font-size: 1.0625rem; color: #333; }
nav { margin: 1rem 0; padding: .75rem 1rem; background: #f5f6f7; border-radius: .375rem; }
nav h2 { border: 0; margin: 0 0 .25rem; padding: 0; font-size: 1rem; }
nav ul { columns: 2 18rem; list-style: none; margin: 0; padding: 0; max-width: none; }
nav ul ul { columns: auto; padding-left: 1rem; }
a { color: #0b5394; }
.warning { padding: .5rem .75rem; border-left: .3rem solid #b45309; background: #fff7ed; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; margin: .75rem 0; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; max-width: 40rem; height: auto; }
figure.wide { grid-column: 1 / -1; margin: .75rem 0; }
figure.wide .scroll svg { width: auto; max-width: 100%; min-width: 30rem; }
figcaption, caption { font-size: .875rem; color: #444; }
caption { text-align: left; padding: .25rem 0; }
.scroll { overflow-x: auto; max-width: 100%; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e2e2e2; }
thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
td { min-width: 3.5rem; max-width: 34rem; overflow-wrap: break-word; }
td.words { min-width: 17rem; }
@media (max-width: 40rem) {
  body { padding: .5rem .75rem 3rem; }
  h1 { font-size: 1.375rem; }
  h2 { font-size: 1.1875rem; }
}
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { background: none; border: 1px solid #ccc; }
  a { color: inherit; text-decoration: none; }
  h2, h3, h4 { break-after: avoid; }
  figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  figure.wide .scroll svg { min-width: 0; max-height: 20cm; }
  .figures { grid-template-columns: 1fr 1fr; }
  table { font-size: 8pt; }
}
)CSS";
}

}  // namespace busbar
