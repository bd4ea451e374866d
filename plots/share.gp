# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth as percent of the bound of its own row, a panel per number of ranks.
#   gnuplot -e "data='share.dat'; out='share.svg'" plots/common.gp plots/share.gp
eval(size_axis)
set ylabel "share of its own bound (%)"
set yrange [0:(y_high > 100 ? y_high : 100) * 1.05]
set arrow 1 from graph 0, first 100 to graph 1, first 100 nohead dt 3 lw 2 lc rgb "#555555"
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  eval(draw)
}
if (!terminal) { unset multiplot }
