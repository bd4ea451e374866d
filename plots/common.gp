# SPDX-License-Identifier: BSD-3-Clause
# What every figure shares. To draw a figure by hand from the data that busbar plot left beside the picture:
#   gnuplot -e "data='busbw.dat'; out='busbw.svg'" plots/common.gp plots/busbw.gp
# `out` ends in .svg or .png; without `out` the figure is drawn as text, `columns` by `lines` characters.
# The data are blocks: facts, panels, marks, curves, and then the points of each curve (x y low high).
if (!exists("data")) {
  print "usage: gnuplot -e \"data='NAME.dat'; out='NAME.svg'\" plots/common.gp plots/NAME.gp"
  exit status 2
}
terminal = !exists("out")
if (terminal) { out = "" }
if (!exists("columns")) { columns = 100 }
if (!exists("lines")) { lines = 32 }
set encoding utf8
set datafile missing "nan"

# --- facts, panels, marks, curves -----------------------------------------------------------------
figure_title = ""; panels = 0; curves = 0; marks = 0
x_low = 1.; x_high = 1.; y_low = 0.; y_high = 1.; limits_low = 0.; limits_high = 1.; ranks = 0
number(text) = real(text)
set table $ignored
plot data index 0 using (strcol(1) eq "title" ? figure_title = strcol(2) : \
  strcol(1) eq "panels" ? panels = int(number(strcol(2))) : strcol(1) eq "curves" ? curves = int(number(strcol(2))) : \
  strcol(1) eq "marks" ? marks = int(number(strcol(2))) : strcol(1) eq "ranks" ? ranks = int(number(strcol(2))) : \
  strcol(1) eq "x_low" ? x_low = number(strcol(2)) : strcol(1) eq "x_high" ? x_high = number(strcol(2)) : \
  strcol(1) eq "y_low" ? y_low = number(strcol(2)) : strcol(1) eq "y_high" ? y_high = number(strcol(2)) : \
  strcol(1) eq "limits_low" ? limits_low = number(strcol(2)) : \
  strcol(1) eq "limits_high" ? limits_high = number(strcol(2)) : 0, 0) with table
array Panel[panels + 1]
plot data index 1 using (Panel[int(column(1))] = strcol(2), 0) with table
array Mark_x[marks + 1]
array Mark_text[marks + 1]
plot data index 2 using (Mark_x[int(column(0)) + 1] = strcol(1), Mark_text[int(column(0)) + 1] = strcol(2), 0) with table
array In[curves + 1]
array Kind[curves + 1]
array Colour[curves + 1]
array Point[curves + 1]
array Dash[curves + 1]
array Title[curves + 1]
plot data index 3 using (i = int(column(0)) + 1, In[i] = int(column(1)), Kind[i] = strcol(2), Colour[i] = int(column(3)), \
  Point[i] = int(column(4)), Dash[i] = int(column(5)), Title[i] = strcol(6), 0) with table
unset table
block(curve) = curve + 3  # of the data, where the curve's points are

# Words of the curves of a panel that are of a kind, for "plot for [c in ...]".
chosen = ""
of_kind(panel, kind) = (chosen = "", sum [c = 1:curves] (In[c] == panel && Kind[c] eq kind ? (chosen = chosen . " " . c, 1) : 0), chosen)

# --- the sheet ------------------------------------------------------------------------------------
across = panels <= 1 ? 1 : panels <= 4 ? 2 : 3
down = (panels + across - 1) / across
panel_width = across == 1 ? 900 : across == 2 ? 560 : 480
legend = 0  # entries of the fullest panel's legend
do for [p = 1:panels] {
  entries = 0
  do for [c = 1:curves] { if (In[c] == p && Title[c] ne "") { entries = entries + 1 } }
  if (entries > legend) { legend = entries }
}
if (!exists("panel_height")) { panel_height = (across == 1 ? 440 : 340) + 19 * legend }
sheet_width = panel_width * across
sheet_height = panel_height * down + 40
if (terminal) {
  set terminal dumb noansi size columns, lines
} else {
  if (out[strlen(out) - 3:] eq ".png") {
    set terminal pngcairo noenhanced size sheet_width, sheet_height font "DejaVu Sans,10" background rgb "white"
  } else {
    set terminal svg noenhanced size sheet_width, sheet_height font "DejaVu Sans,13" background rgb "white"
  }
  set output out
}

# --- axes -----------------------------------------------------------------------------------------
set border 3
set tics nomirror out
set grid xtics ytics lc rgb "#e4e4e4" lw 1 lt 1 dt 1
set style fill transparent solid 0.18 noborder
set key below center vertical maxcols 1 reverse Left samplen 4 spacing 1.1

bytes(x) = x < 2**10 ? sprintf("%g B", x) : x < 2**20 ? sprintf("%g KiB", x / 2**10) : \
  x < 2**30 ? sprintf("%g MiB", x / 2**20) : x < 2**40 ? sprintf("%g GiB", x / 2**30) : sprintf("%g TiB", x / 2**40)

# At most `most` names of sizes, powers of two a whole power apart.
size_axis = 'set logscale x 2; set xlabel "size"; first_power = int(floor(log(x_low) / log(2) + 1e-9)); last_power = int(ceil(log(x_high) / log(2) - 1e-9)); apart = int(ceil((last_power - first_power + 1.) / most)); unset xtics; set xtics out nomirror (); do for [power = first_power:last_power] { if (power % apart == 0) { set xtics add (bytes(2. ** power) 2. ** power) } else { set xtics add ("" 2. ** power 1) } }; set xrange [x_low / 1.25 : x_high * 1.25]'
most = across == 1 ? 11 : across == 2 ? 7 : 6
if (terminal) { most = 6 }

# --- curves ---------------------------------------------------------------------------------------
# The curves of panel p: band or bars, lines, markers; what is missing is a gap.
draw = 'plot for [c in of_kind(p, "measured")] data index block(c) using 1:3:4 with filledcurves lc rgb Colour[c] notitle, \
  for [c in of_kind(p, "measured")] data index block(c) using 1:2:3:4 with yerrorbars pt -1 dt 1 lw 1 lc rgb Colour[c] notitle, \
  for [c in of_kind(p, "bound")] data index block(c) using 1:2 with lines dt 3 lw 2 lc rgb Colour[c] title Title[c], \
  for [c in of_kind(p, "ideal")] data index block(c) using 1:2 with lines dt 2 lw 1.5 lc rgb Colour[c] title Title[c], \
  for [c in of_kind(p, "second")] data index block(c) using 1:2 with linespoints dt 3 lw 1.2 pt Point[c] ps 0.5 lc rgb Colour[c] title Title[c], \
  for [c in of_kind(p, "measured")] data index block(c) using 1:2 with linespoints dt Dash[c] lw 1.8 pt Point[c] ps 1 lc rgb Colour[c] title Title[c]'
# Text has neither bands nor colours.
draw_text = 'plot for [c in of_kind(p, "bound")] data index block(c) using 1:2 with lines title Title[c], \
  for [c in of_kind(p, "ideal")] data index block(c) using 1:2 with lines title Title[c], \
  for [c in of_kind(p, "second")] data index block(c) using 1:2 with points title Title[c], \
  for [c in of_kind(p, "measured")] data index block(c) using 1:2 with linespoints title Title[c]'
if (terminal) { draw = draw_text; set style fill empty }

# A sheet of several panels, or pages of text.
if (!terminal) { set multiplot layout down, across title figure_title font ",15" noenhanced }
