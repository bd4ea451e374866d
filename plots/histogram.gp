# SPDX-License-Identifier: BSD-3-Clause
# Histogram of samples: percent of them per percent of time, so that areas compare whatever the width of the bins.
#   gnuplot -e "data='histogram.dat'; out='histogram.svg'" plots/common.gp plots/histogram.gp
set xlabel "time (µs)" offset 0, 0.3
set ylabel "density (% of the samples per % of time)"
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  margin = (X_high[p] / X_low[p]) ** 0.04
  low = X_low[p] / margin; high = X_high[p] * margin
  # A few tens of percent of spread: a logarithmic axis would have one name or none.
  if (high / low > 5) { eval(log_axis("x")) } else {
    apart = (high - low) / 4; decade = 10 ** floor(log10(apart)); digit = apart / decade
    apart = decade * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10)
    unset logscale x; set xtics out nomirror apart; set xrange [low:high]
  }
  set yrange [0:Y_high[p] * 1.06]
  eval(draw)
}
if (!terminal) { unset multiplot }
