# SPDX-License-Identifier: BSD-3-Clause
# Rates of ordered pairs as a matrix: sender down, receiver across, colours between fixed limits.
#   gnuplot -e "data='pairs.dat'; out='pairs.svg'" plots/common.gp plots/pairs.gp
# The diagonal is blank, a pair without a value hatched. Colours are cividis'.
set palette defined (0 "#00224e", 0.125 "#123570", 0.25 "#3b496c", 0.375 "#575d6d", 0.5 "#707173", \
  0.625 "#8a8678", 0.75 "#a59c74", 0.875 "#c3b369", 1 "#fee838")
set cbrange [limits_low:limits_high]
set cblabel "bus bandwidth (GB/s)" offset 1, 0
set xlabel "receiver (rank)"
set ylabel "sender (rank)"
set border 0
set style fill solid 1 noborder  # of the colour box
unset grid
unset key
shown(v) = v < limits_low ? limits_low : v > limits_high ? limits_high : v
pale(v) = shown(v) > limits_low + 0.55 * (limits_high - limits_low)
rate(v) = sprintf(v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : "%.2f", v)
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  c = p  # a curve per panel
  ranks = (X_high[p] > Y_high[p] ? X_high[p] : Y_high[p]) + 1
  every = ranks <= 16 ? 1 : int(ceil(ranks / 8.))
  set xtics 0, every scale 0
  set ytics 0, every scale 0
  set xrange [-0.5:ranks - 0.5]
  set yrange [ranks - 0.5:-0.5]
  if (terminal) {
    set title figure_title . ", " . Panel[p] . " (GB/s)" noenhanced
    plot data index block(c) using 1:2:(valid(3) ? rate(column(3)) : "-") with labels
  } else {
    set size ratio 1
    plot data index block(c) using (valid(3) ? NaN : column(1)):2:(0.48):(0.48) with boxxyerror fs pattern 4 lc rgb "#999999", \
      data index block(c) using (valid(3) ? column(1) : NaN):2:(0.5):(0.5):3 with boxxyerror fs solid 1 noborder lc palette, \
      data index block(c) using 1:2:(ranks > 16 || !valid(3) ? "" : rate(column(3))):(pale(column(3)) ? 0x000000 : 0xffffff) with labels font ",9" tc rgb variable
  }
}
if (!terminal) { unset multiplot }
