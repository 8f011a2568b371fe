#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the report and pages of the site in a real browser: tests/browser.html checks them, in the sizes of phones and
# desks, light and dark. It takes more than 20 s of processors: a browser starts for each page, light and dark.
# Touched by: reports/*.c reports/*.h reports/page reports/model reports/sections doc/site tests/browser.html
# shellcheck disable=SC2154,SC2317
. "${srcdir:-.}/tests/command.sh"
eyes=$root/tests/browser.html
for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do
  [ -n "$browser" ] && command -v "$browser" >/dev/null && break
done
[ -n "$browser" ] || skip_all 'no chromium here'
! emulated || skip_all 'times of an emulator are not published'

# Light is 1, dark is 0. The browser has a folder of its own, not the user's; its sandbox needs rights that a test may
# lack.
look() { # PAGE COLOURS: results in `seen`, messages of the console in `console`
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/browser" \
    --allow-file-access-from-files --enable-logging=stderr --v=0 --blink-settings=preferredColorScheme="$2" \
    --window-size=1800,1000 \
    --dump-dom "file://$eyes#$1" >dom 2>log
  sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed 's/<[^>]*>//g' >seen
  grep -F ':CONSOLE' log >console
  grep -qx end seen
}

saw() { # LINE
  grep -qx -- "$1" seen
}

told() { # FIXED-TEXT of the console
  grep -qF -- "$1" console
}

diagnose() {
  { grep '^bad' seen; cat console; } | sed 's/^/# /'
}

if ! look /dev/null 1 && ! grep -q '<html' dom; then
  skip_all "$browser does not run here"
fi

"$POSENC" verify --kernel 'r*' --len 64 --dim 512 --profile --format json -o accuracy.json || exit 99
set -- --from accuracy.json
# Without Google Benchmark, there are two figures less.
"$POSENC" bench --kernel 'r*' --len 64 --dim 512 --repetitions 3 --min-time 0.001 --format json -o bench.json \
  >out 2>&1 &&
  set -- "$@" --from bench.json
"$POSENC" report "$@" -o page >out 2>err
! no_pages || skip_all "$why"
known='<table><caption>Known<\/caption><thead><tr><th scope="col" class="n">position<\/th><\/tr><\/thead><tbody>'
for cell in 2¹⁰ "5$(printf '\342\200\257')000" 2³⁰ 2⁰; do
  known="$known<tr><td class=\"n\">$cell<\/td><\/tr>"
done
page=$work/page/known.html
sed "s/^<\/main>/$known<\/tbody><\/table>&/" page/index.html >"$page"
figures=$(grep -c '<figure>' "$page")
check 'the page has figures' test "$figures" -ge 2

for colours in 1 0; do
  name=light dark=false
  [ $colours -eq 1 ] || name=dark dark=true
  check "$name: the page is looked at" look "$page" $colours
  check "$name: it is" saw "fact dark $dark"
  check "$name: no message on the console" test ! -s console
  for width in small phone screen desk; do
    check "$name, $width: all figures are there" saw "fact $width figures $figures"
    for what in 'what is folded' 'names for those who listen' 'no horizontal scroll' 'every figure is drawn' \
      'text can be read' 'figures beside their heads' 'headline and first picture fit' 'no other host is asked'; do
      check "$name, $width: $what" saw "ok $width: $what"
    done
  done
done

for what in 'links lead somewhere' 'tables sort' 'a known table sorts'; do check "$what" saw "ok $what"; done

check 'the details are looked at' look "$work/page/details.html" 1
check 'details: no message on the console' test ! -s console
for width in small phone screen desk; do
  for what in 'what is folded' 'names for those who listen' 'no horizontal scroll' 'every figure is drawn' \
    'text can be read' 'figures beside their heads'; do
    check "details, $width: $what" saw "ok $width: $what"
  done
done
for what in 'links lead somewhere' 'tables sort'; do check "details: $what" saw "ok $what"; done

timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/browser" \
  --print-to-pdf="$work/paper.pdf" "file://$work/page/index.html" >out 2>&1
sheets=$(grep -aoE '/Type */Page([^s]|$)' paper.pdf | wc -l)
check "it is printed on at most 12 sheets ($sheets)" test "$sheets" -ge 1 -a "$sheets" -le 12

# A page of a selected kernel whose name and file are as long as names can be, and which failed, on a busy machine.
name=a-name-of-thirty-one-characters
file=./$(printf 'a-long-folder/%.0s' 1 2 3 4 5 6)mine.so
if [ -f bench.json ]; then
  sed "s/\"recurrence\"/\"$name\"/g
    s|\"name\": *\"$name\"|\"plugin\": \"$file\", \"selected\": true, &|" accuracy.json >subject-accuracy.json
  sed "s|/recurrence|/$name|g; s/\"others\": *[0-9.e-]*/\"others\": 0.5/" bench.json >subject-bench.json
  "$POSENC" report --from subject-accuracy.json --from subject-bench.json -o subject >out 2>err
  check 'a page of a selected kernel' contains subject/report.md "Plugin: \`$file\`"
  for each in index details; do
    check "selected: $each.html is looked at" look "$work/subject/$each.html" 1
    check "selected: no message on the console" test ! -s console
    for width in small phone screen desk; do
      for what in 'no horizontal scroll' 'every figure is drawn' 'text can be read' 'headline and first picture fit'; do
        [ "$each $what" = 'details headline and first picture fit' ] ||
          check "selected, $each, $width: $what" saw "ok $width: $what"
      done
    done
  done
else
  skip 'a page of a selected kernel' 'nothing was timed'
fi

# Two machines are compared if kernels were timed.
if [ -f bench.json ] && "$POSENC" verify --kernel 'r*' --len 64 --dim 512 --format json -o shared.json &&
  "$POSENC" report --from shared.json --from bench.json -o here >out 2>err; then
  sed 's/"cpu":"[^"]*"/"cpu":"Another <maker> \& sons, 64 cores of one kind"/g' here/report.json >there.json
  "$POSENC" report here/report.json there.json -o machines >out 2>err
  for colours in 1 0; do
    check 'machines: the page is looked at' look "$work/machines/index.html" $colours
    check 'machines: no message on the console' test ! -s console
    for width in small phone screen desk; do
      for what in 'no horizontal scroll' 'every figure is drawn' 'text can be read'; do
        check "machines, $width: $what" saw "ok $width: $what"
      done
    done
  done
  for what in 'links lead somewhere' 'tables sort'; do check "machines: $what" saw "ok $what"; done
else
  skip 'machines side by side' 'nothing was timed'
fi

# Pages of the site (tests/site.sh), if what makes it is there.
if "${PYTHON:-python3}" "$root/doc/site/site.py" "$root" "$abs_top_builddir" "$work/site" >out 2>err; then
  for each in index README posenc.h doc/design doc/problems man/posenc-verify.1; do
    for colours in 1 0; do
      check "site: $each.html is looked at" look "$work/site/$each.html" $colours
      check "site: $each.html: no message on the console" test ! -s console
      for width in small phone screen desk; do
        for what in 'no horizontal scroll' 'text can be read' 'figures beside their heads' 'no other host is asked'; do
          check "site: $each.html, $width: $what" saw "ok $width: $what"
        done
      done
    done
  done
else
  skip 'pages of the site' "$(cat err)"
fi

# Each of these defects must be found by tests/browser.html.
sed 's/(m - n)/(n - m)/; s/beforeprint/never/; s/<\/main>/<b tabindex="0" class="mute"><\/b>\
<figure><figcaption>none<\/figcaption><svg aria-label="none"><\/svg><\/figure>\
<div class="table"><table><caption>wide<\/caption>\
<thead><tr><th scope="col">a<\/th><th scope="col">b<\/th><\/tr><\/thead>\
<tbody><tr><th scope="row" style="white-space:nowrap;max-width:none">\
wide head wide head wide head wide head wide head wide head wide head wide head wide head wide head wide head<\/th>\
<td>1<\/td><\/tr><\/tbody><\/table><\/div>\
<p class="answer" style="width:60rem;color:#777;background:#888">pale and wide<\/p><a href="#nowhere">lost<\/a>\
<img alt="" src="http:\/\/host.invalid\/picture.png">&/
  s/^<\/body>/<script>throw new Error("broken")<\/script>&/' "$page" >broken.html
check 'a broken page is looked at' look "$work/broken.html" 1
diagnose() { sed 's/^/# /' seen console; }
check 'an error on the console is seen' told 'Uncaught Error: broken'
for what in 'phone: no horizontal scroll: [0-9]* pixels' \
  'desk: every figure is drawn: none: 0 things' "phone: text can be read: p 'pale" \
  'links lead somewhere: #nowhere' 'desk: figures beside their heads: wide' \
  'small: headline and first picture fit: .* is wider than 320' 'desk: what is folded: [0-9]* not on paper' \
  'desk: names for those who listen: .* without a name: mute' \
  'desk: no other host is asked: http://host.invalid/picture.png' \
  'tables sort: .* not ascending' 'a known table sorts: 1073741824 and 1 come first'; do
  check "bad $what is seen" grep -q "^bad $what" seen
done

plan
exit "$tap_failed"
