// SPDX-License-Identifier: MIT
// A cell's number as the page writes it: "5 000", "2¹⁷", "1 − 9.6e-07", "0.0931 (0.0925–0.0987)", "20.0×"; else NaN.
const raised = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const number = cell => {
  const text = cell.textContent.replace(/\s/g, '');
  const power = /^2([⁰¹²³⁴-⁹]+)/.exec(text), below = /^1−(.*)/.exec(text);
  if (power) return 2 ** [...power[1]].map(digit => raised.indexOf(digit)).join('');
  return below ? 1 - parseFloat(below[1]) : parseFloat(text);
};
// Cells without a number come last in both directions; equal ones stay in the order of the page.
const ordered = (rows, column, numeric, sign) => rows.slice().sort((a, b) => {
  const [x, y] = [a.cells[column], b.cells[column]];
  if (!x || !y) return !x - !y;
  if (!numeric) return sign * x.textContent.localeCompare(y.textContent, 'en', {numeric: true});
  const [m, n] = [number(x), number(y)];
  return isNaN(m) || isNaN(n) ? isNaN(m) - isNaN(n) : sign * (m - n);
});
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  if (rows.length < 2) continue;
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.title = `Sort by ${head.textContent}`;
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      body.append(...ordered(rows, column, head.classList.contains('n'), up ? 1 : -1));
    });
  });
}
// The list of sections is folded on a phone; the first link of the page passes it over.
const sections = [...document.querySelectorAll('h2')], list = document.createElement('nav');
const make = (parent, name, text) => {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
};
if (sections.length) {
  const fold = make(list, 'details', ''), skip = make(document.body, 'a', 'Skip the list of sections');
  make(fold, 'summary', 'Sections');
  const links = make(fold, 'div', '');
  for (const section of sections) make(links, 'a', section.textContent).href = `#${section.id}`;
  fold.open = matchMedia('(min-width: 48rem)').matches;
  list.setAttribute('aria-label', 'Sections');
  sections[0].before(list);
  skip.href = `#${sections[0].id}`;
  skip.className = 'skip';
  document.body.prepend(skip);
}
// Paper shows what is folded, too.
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')];
  for (const details of folded) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of folded) details.open = false;
});
