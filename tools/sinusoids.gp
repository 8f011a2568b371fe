# SPDX-License-Identifier: MIT
# Draws the pictures of doc/sinusoids.md from the data blocks of posenc-sinusoids, which come before this text in the
# script. `folder`: where the pictures are written.
blue = '#0072b2'
red = '#d55e00'
grey = '#808080'
set encoding utf8
set key below center Left reverse noenhanced samplen 2 title ' '
set xlabel offset 0,0.5
set border 3 linewidth 0.7
set tics nomirror scale 0.6
terminal = "set terminal svg size 640,%d dynamic enhanced font 'sans-serif,15' linewidth 1.4 background '#ffffff'"
picture(height) = sprintf(terminal, height)

# The first rows of all columns.
eval picture(480)
set output folder.'/heatmap.svg'
set xlabel 'column'
set ylabel 'position'
set xrange [-0.5:127.5]
set yrange [127.5:-0.5]
set xtics 16
set ytics 16
set cbrange [-1:1]
set cbtics 0.5
set palette defined (-1 '#b2182b', -0.5 '#f4a582', 0 '#f7f7f7', 0.5 '#92c5de', 1 '#2166ac')
plot $table matrix every :::0::127 with image notitle
unset ylabel

set grid linecolor rgb grey dashtype 1 linewidth 0.2

# Pairs of columns against position.
eval picture(520)
set output folder.'/columns.svg'
set xrange [0:159]
set yrange [-1.15:1.15]
set xtics autofreq
set ytics 1
set format x ''
set xlabel ''
unset key
set multiplot layout 5,1 margins 0.09,0.98,0.12,0.95 spacing 0,0.05
do for [i=0:4] {
  if (i == 4) { set format x '%g'; set xlabel 'position' }
  set title sprintf('{/:Bold column %d}, sine, and column %d, cosine, dashed', 16*i, 16*i + 1) font ',13' offset 0,-0.8
  plot $table every ::::159 using 0:16*i + 1 with lines linecolor rgb blue, \
       '' every ::::159 using 0:16*i + 2 with lines dashtype 2 linecolor rgb red
}
unset multiplot

# Pairs as points of the unit circle. The points of a slow pair are too close for a number at each of them.
eval picture(270)
set output folder.'/circle.svg'
set xrange [-1.35:1.35]
set yrange [-1.35:1.35]
set size ratio -1
set xtics 1
set xlabel 'cosine'
set ylabel 'sine' offset 1.5,0
set multiplot layout 1,3 margins 0.08,0.99,0.24,0.88 spacing 0.06,0
do for [i=0:2] {
  sine = 16*i + 1
  cosine = sine + 1
  set title sprintf('index %d: %.3g per position', 8*i, 10000**(-8*i/64.)) font ',13' offset 0,-0.5
  plot $table every ::0::0 using (0):(0):(1) with circles linecolor rgb grey fillstyle empty, \
       '' every ::0::1 using (0):(0):cosine:sine with vectors nohead linecolor rgb grey, \
       '' every ::0::12 using cosine:sine with points pointtype 7 pointsize 0.6 linecolor rgb blue, \
       '' every ::0::12 using (1.2*column(cosine)):(1.2*column(sine)):\
         (i < 2 || int($0) % 4 == 0 ? sprintf('%d', $0) : '') with labels font ',12'
  unset ylabel
}
unset multiplot
unset title
set size noratio

# Frequency and wavelength against index.
eval picture(480)
set output folder.'/wavelength.svg'
set key on
set xlabel 'frequency index'
set xrange [0:63]
set xtics 8
set autoscale y
set ytics autofreq
set logscale y 10
set format y '10^{%L}'
plot $frequencies using 1:4 with lines linewidth 2 linecolor rgb blue title 'wavelength, positions', \
     '' using 1:2 with lines dashtype 2 linewidth 2 linecolor rgb red title 'frequency, radians per position', \
     '' using 1:3 every 4 with points pointtype 6 pointsize 0.5 linecolor rgb red \
       title 'turn from row 0 to row 1 of the table'

# Amplitude of sine columns against wavelength, beside the exact wavelengths.
set output folder.'/spectrum.svg'
set xlabel 'wavelength (positions)'
set ylabel 'amplitude'
set logscale x 2
set xrange [2:4096]
set xtics autofreq
set yrange [1e-3:2]
array colours[5] = [blue, red, '#009e73', '#cc79a7', '#e69f00']
wavelength(i) = 2*pi*10000**(i/64.)
do for [i=0:4] {
  w = wavelength(8*i)
  set arrow from first w, graph 0 to first w, graph 1 nohead back linecolor rgb grey dashtype 2
}
plot for [i=0:4] $spectrum index i using (4096/$2):3 with lines linecolor rgb colours[i+1] \
  title sprintf('column %d: %.4g', 16*i, wavelength(8*i))
unset arrow
unset logscale
unset format

# Similarity of two positions against their difference.
#
# For a wide table, the sum approaches the integral of cos(k w) over ln w, which is (Ci(k) - Ci(k/base)) / ln base. For
# 1 << k << base that is about 1 - (ln k + 0.5772) / ln base, because Ci(x) is nearly 0 for large x and nearly
# ln x + 0.5772 for small x.
eval picture(320)
set output folder.'/similarity.svg'
set ylabel 'similarity' offset 1,0
set yrange [-0.1:1.05]
set ytics 0.25
set multiplot layout 1,2 margins 0.12,0.98,0.32,0.97 spacing 0.09,0
unset key
set xlabel 'p − q'
set xrange [-64:64]
set xtics 32
plot $similarity using 1:2 with lines linewidth 1.5 linecolor rgb blue, \
     '' using (-$1):2 with lines linewidth 1.5 linecolor rgb blue
unset ylabel
set xlabel '|p − q|'
set logscale x 2
set xrange [1:4096]
set xtics 1,8
set format x '2^{%L}'
set key on at screen 0.5, screen 0.08 center center title ''
plot $similarity using 1:2 with lines linewidth 1.5 linecolor rgb blue title 'PE[p]·PE[q] / (d/2)', \
     1 - (log(x) + 0.5772156649)/log(10000) with lines dashtype 2 linewidth 2 linecolor rgb red \
       title '1 − (ln |p − q| + 0.577) / ln base'
unset multiplot
