#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site, a folder of pages that need no server, no script and no network.

    site.py SOURCE BUILD OUT    makes the folder OUT, and looks at it as --check does
    site.py --check OUT         prints dead links, dead anchors, and what a browser would ask elsewhere for

Four programs do the work: cmark-gfm reads Markdown, as GitHub does; doxygen reads posenc.h; mandoc reads man pages;
posenc makes pages of records. What is here puts one navigation and one style around them, and their links together.
Environment: CMARK_GFM, DOXYGEN, MANDOC; MACHINES, report.json of several machines; HISTORY, what posenc history reads.
"""
import collections
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

PACKAGES = {'CMARK_GFM': 'cmark-gfm', 'DOXYGEN': 'doxygen', 'MANDOC': 'mandoc'}  # of Debian, called as their programs
TOOLS = {name: os.environ.get(name) or package for name, package in PACKAGES.items()}
PUBLISHED, HEADER = 'reports/published', 'include/posenc.h'
# Pages that do not lie where their source does.
PLACES = {f'{PUBLISHED}/report.md': 'index.html', HEADER: 'posenc.h.html'}
# Pictures of the report that are in the tree, and how what stands for them in report.md begins.
PICTURES = {'bars.svg': 'Time per element', 'recipes.svg': 'Error against position. Errors within'}


def die(why):
    sys.exit(f'site: {why}')


def run(*command, text=None, good=(0,), where=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=where)
    if done.returncode not in good:
        die(f'{command[0]}: {done.stderr.strip() or done.returncode}')
    return done.stdout


def bare(marked):
    return re.sub('<[^>]*>', '', marked)


class Site:
    """The pages so far, the files that they link to, and the names of posenc.h and of commands with their pages."""

    def __init__(self, source, build, out):
        self.source, self.build, self.out = source, build, out
        self.wanted, self.names = set(), {}
        self.menu = {'Report': 'index.html', 'Overview': 'README.html', 'Documents': 'README.html#documentation',
                     'Library': 'posenc.h.html', 'Commands': 'man/posenc.1.html'}

    # ---- a page ----

    def put(self, place, text):
        (self.out / place).parent.mkdir(parents=True, exist_ok=True)
        (self.out / place).write_text(text)

    def write(self, place, title, body):
        """Writes a page. Its second headings are in the navigation."""
        found = re.findall(r'<h2[^>]*? id="([^"]*)"[^>]*>(.*?)</h2>', body, re.S)
        sections = '\n'.join(f'<a href="#{name}">{bare(text)}</a>' for name, text in found)
        if sections:
            sections = (f'<div class="beside">{sections}</div>\n'
                        f'<details><summary>On this page</summary><div>{sections}</div></details>\n')
        self.put(place, '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                 '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                 f'<title>{title}</title>\n<link rel="stylesheet" href="{self.up(place)}style.css">\n</head>\n<body>\n'
                 f'{self.navigation(place, sections)}<main id="main" class="text">\n{body}</main>\n</body>\n</html>\n')

    @staticmethod
    def up(place):
        return '../' * place.count('/')

    def navigation(self, place, sections=''):
        links = '\n'.join(f'<a href="{self.up(place)}{to}"{" aria-current=page" if to == place else ""}>{name}</a>'
                          for name, to in self.menu.items())
        return (f'<a class="skip" href="#main">Skip the navigation</a>\n<nav aria-label="Site"><div>{links}</div>\n'
                f'{sections}</nav>\n')

    def name(self, text, place=''):
        """Returns a name, with a link to where it is explained."""
        to = self.names.get(text)
        return f'<a href="{(self.up(place) + to).removeprefix(place)}">{text}</a>' if to else text

    # ---- documents, and the files that they link to ----

    def address(self, path, place):
        """Returns the address of a file or folder of the source on a page, and remembers to make its own page."""
        full = self.source / path
        if not full.exists():
            die(f'{place} needs {path}, which is not there')
        to = path + ('/index.html' if full.is_dir() else '' if full.suffix == '.svg' else '.html')
        to = PLACES.get(path) or re.sub(r'\.md\.html$', '.html', to)
        self.wanted.add((path, to))
        return self.up(place) + to

    def document(self, path, place):
        """Makes the page of a file in Markdown, with the anchors that GitHub makes."""
        texts, headings = [''], collections.Counter()

        def heading(found):
            if not found[1]:
                return f'<div class="table" role="region" tabindex="0" aria-label="Table: {texts[-1]}">\n<table>'
            texts.append(bare(found[2]))
            anchor = re.sub(r'[^\w -]', '', html.unescape(bare(found[2])).lower()).replace(' ', '-')
            headings[anchor] += 1
            anchor += f'-{headings[anchor] - 1}' if headings[anchor] > 1 else ''
            text = found[2] if found[1] == '1' or '<a ' in found[2] else f'<a href="#{anchor}">{found[2]}</a>'
            return f'<h{found[1]} id="{anchor}">{text}</h{found[1]}>'

        def link(found):
            target, mark, anchor = html.unescape(found[2]).partition('#')
            if not target or re.match('[a-z]+:', target):
                return found[0]
            inner = os.path.normpath(PurePosixPath(path).parent / unquote(target))
            return f'{found[1]}"{self.address(inner, place)}{mark}{anchor}"'

        body = run(TOOLS['CMARK_GFM'], '-e', 'table', text=(self.source / path).read_text())
        body = body.replace('<!-- raw HTML omitted -->', '').replace(' align="right"', ' class="n"')
        body = re.sub('(href=|src=)"([^"]*)"', link, body)
        body = re.sub(r'<th\b', '<th scope="col"', body).replace('</table>', '</table></div>')
        body = re.sub(r'<h(\d)>(.*?)</h\1>|<table>', heading, body, flags=re.S)
        body = re.sub('<pre>(?=<code>[^<]*│)',
                      '<pre class="drawn" role="region" tabindex="0" aria-label="Drawing">', body)
        body = re.sub(r'<code>(posenc_\w+|POSENC_\w+|posenc \w+)',
                      lambda found: f'<code>{self.name(found[1], place)}', body)
        for picture, caption in PICTURES.items() if PLACES.get(path) == 'index.html' else ():
            where = self.address(f'{PUBLISHED}/{picture}', place)
            body = re.sub(f'<p>({re.escape(caption)}.*?) Drawn in the HTML page.</p>',
                          rf'<figure><figcaption>\1</figcaption><img src="{where}" alt="{caption}"></figure>',
                          body, count=1)
        self.write(place, bare(re.search('<h1.*?</h1>', body)[0]), body)

    def text(self, path, place):
        """Makes a page of a file of another kind, or of a folder."""
        full, body = self.source / path, ''
        if full.is_dir():
            for file in sorted(file for file in full.rglob('*') if file.is_file() and '__pycache__' not in file.parts):
                to = self.address(str(file.relative_to(self.source)), place)
                body += f'<li><a href="{to}">{html.escape(str(file.relative_to(full)))}</a></li>\n'
        else:
            body = f'<pre>{html.escape(full.read_text())}</pre>'
        self.write(place, html.escape(path), f'<h1>{html.escape(path)}</h1>\n{body}\n')

    def documents(self):
        """Makes all documents, and what they link to, and what that links to."""
        for path in [self.source / 'README.md', self.source / 'NEWS', *self.source.glob('doc/*.md')]:
            self.address(str(path.relative_to(self.source)), 'index.html')
        self.address(f'{PUBLISHED}/report.md', 'index.html')
        done = {(HEADER, PLACES[HEADER])}
        if (self.source / PUBLISHED / 'index.html').exists():
            done.add((f'{PUBLISHED}/report.md', 'index.html'))
        while self.wanted - done:
            path, place = (self.wanted - done).pop()
            done.add((path, place))
            if path.endswith('.svg'):
                (self.out / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.source / path, self.out / place)
            else:
                (self.document if path.endswith('.md') else self.text)(path, place)

    # ---- man pages ----

    def manuals(self):
        pages = {page.name: page for folder in (self.source, self.build) for page in folder.glob('cli/posenc*.[17]')}
        if not pages:
            die('there are no man pages: apt-get install help2man, and configure again')
        for name in pages:
            self.names[name[:-2].replace('-', ' ')] = f'man/{name}.html'

        def link(found):
            name = f'{found[1]}.{found[2]}'
            return f'<a href="{name}.html">{found[0]}</a>' if name in pages else found[0]

        for name, page in pages.items():
            body = run(TOOLS['MANDOC'], '-T', 'html', '-O', 'fragment', str(page))
            body = re.sub('<table class="(?:head|foot)">.*?</table>', '', body, flags=re.S)
            body = re.sub('<(/?)h([12])', lambda found: f'<{found[1]}h{int(found[2]) + 1}', body)
            body = re.sub(r'\b(posenc[a-z-]*)\(([17])\)', link, body)
            self.write(f'man/{name}.html', name[:-2], f'<h1>{name[:-2]}</h1>\n{body}')

    # ---- pages that posenc makes ----

    def reports(self):
        """Takes in pages of records, as far as there are any. Returns what is left out."""
        posenc, left_out, folders = str(self.build / 'run/posenc'), [], {}
        machines, history = ([str(Path(word).resolve()) if Path(word).exists() else word
                              for word in os.environ.get(name, '').split()] for name in ('MACHINES', 'HISTORY'))
        if not history and shutil.which('git') and run('git', 'notes', '--ref=posenc', 'list', where=self.source,
                                                       good=range(256)):
            history = ['refs/notes/posenc']
        front = self.source / PUBLISHED / 'index.html'
        if front.exists():
            folders[self.source / PUBLISHED] = ''
        # The published report has its machines side by side.
        text = (front if front.exists() else front.with_name('report.md')).read_text()
        if not machines and re.search('## Several machines|id="several-machines"', text):
            self.menu['Machines'] = 'index.html#several-machines'
        with tempfile.TemporaryDirectory() as work:
            for title, given, command, how in (
                    ('Machines', machines, ['report', *machines, '-o', f'{work}/machines'],
                     "machines side by side: the published report is of one (MACHINES='a/report.json b/report.json')"),
                    ('History', history, ['history', *history, '--format', 'html', '-o', f'{work}/history/index.html'],
                     'history: git has no notes here (git fetch origin refs/notes/posenc:refs/notes/posenc), '
                     'and HISTORY names no records')):
                if given:
                    Path(work, title.lower()).mkdir()
                    run(posenc, *command, where=self.source, good=(0, 1))  # 1: the page tells of something bad
                    self.menu[title] = f'{title.lower()}/index.html'
                    folders[Path(work, title.lower())] = f'{title.lower()}/'
                elif title not in self.menu:
                    left_out.append(how)
            if (self.build / 'doc/site/compute.html').exists():
                self.menu['Compute'] = 'compute.html'
                folders[self.build / 'doc/site'] = ''
            else:
                left_out.append('the page that computes (make wasm)')
            for folder, to in folders.items():
                for file in folder.iterdir():
                    self.take_in(file, to + file.name)
        return left_out

    def take_in(self, file, place):
        """Copies a file of a page that has been made, and gives the page the navigation."""
        if file.suffix == '.html':
            if not all(part in file.read_text() for part in ('<head>', '<body>', '<main>')):
                die(f'{file} has no place for the navigation: <head>, <body> and <main>')
            page = file.read_text()
            style = f'<link rel="stylesheet" href="{self.up(place)}style.css">'
            if 'Content-Security-Policy' in page:  # which allows the page's own styles alone
                style = f'<style>\n{(self.out / "style.css").read_text()}</style>'
            page = page.replace('<head>', f'<head>\n{style}', 1).replace('<main>', '<main id="main">', 1)
            self.put(place, page.replace('<body>', f'<body>\n{self.navigation(place)}', 1))
        elif file.suffix in ('.svg', '.csv', '.json', '.md', '.js', '.wasm'):
            (self.out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.out / place)

    def make(self):
        missing = [PACKAGES[name] for name, tool in TOOLS.items() if not shutil.which(tool)]
        if missing:
            die(f'what is missing: apt-get install {" ".join(missing)}')
        styles = [self.source / 'reports/page/style.css', self.source / 'doc/site/site.css']
        self.put('style.css', ''.join(style.read_text() for style in styles))
        left_out = self.reports()
        self.write(PLACES[HEADER], 'posenc.h', Manual(self).page())
        self.manuals()
        self.documents()
        if left_out:
            print('site: without ' + '; '.join(left_out))


class Manual:
    """The manual of posenc.h, in its order, of what doxygen finds in it."""

    TAGS = {'itemizedlist': 'ul', 'listitem': 'li', 'computeroutput': 'code', 'para': 'p', 'ref': 'span'}
    SIGNS = {'ndash': '--', 'mdash': '---'}  # in a header they are what they are

    def __init__(self, site):
        self.site, self.lines = site, (site.source / HEADER).read_text().split('\n')
        with tempfile.TemporaryDirectory() as work:
            run(TOOLS['DOXYGEN'], '-', text=(site.source / 'doc/site/Doxyfile').read_text() +
                f'INPUT = "{site.source / HEADER}"\nOUTPUT_DIRECTORY = "{work}"\n'
                f'INPUT_FILTER = "sed -f \'{site.source / "doc/site/comments.sed"}\'"\n')
            parts = [ET.parse(path).getroot()[0] for path in Path(work).glob('xml/*.xml') if path.name != 'index.xml']
        self.file = next(part for part in parts if part.get('kind') == 'file')
        items = [part for part in parts if part.get('kind') == 'struct'] + list(self.file.iter('memberdef'))
        # Macros without a comment are not for users.
        self.items = sorted((item for item in items if item.get('kind') != 'define' or self.about(item)), key=self.line)
        for item in self.items:
            for name in [self.name(item)] + [value.findtext('name') for value in item.iter('enumvalue')]:
                site.names[name] = f'{PLACES[HEADER]}#{name}'
        declared = re.findall(r'^(?:POSENC_API|static inline) .*?(posenc_\w+)\(', '\n'.join(self.lines), re.M)
        lost = set(declared) - set(site.names)
        if lost:
            die(f'doxygen does not find {", ".join(sorted(lost))} in {HEADER}')
        self.examples = dict(re.findall(r'^static void (\w+)\(void\) \{\n(.*?)^\}',
                                        (site.source / 'examples/functions.c').read_text(), re.S | re.M))

    @staticmethod
    def line(item):
        return int(item.find('location').get('line'))

    @staticmethod
    def name(item):
        return (item.findtext('name') or item.findtext('compoundname')).replace('@', 'enum-')  # one enum has no name

    def code(self, text):
        return re.sub(r'\b(?:posenc|POSENC)_\w+', lambda name: self.site.name(name[0], PLACES[HEADER]),
                      html.escape(text, False))

    def about(self, item):
        return self.words(item.find('detaileddescription')).strip()

    def words(self, node):
        """Returns the HTML of a description."""
        parts = [self.code(node.text or '')]
        for child in node:
            if child.tag in self.SIGNS:
                parts.append(self.SIGNS[child.tag])
            elif child.tag == 'verbatim':
                parts.append(f'</p><pre>{self.code(child.text.strip(chr(10)))}</pre><p>')
            elif child.tag in self.TAGS:
                tag = self.TAGS[child.tag]
                whole = f'<{tag}>{self.words(child)}</{tag}>'
                parts.append(f'</p>{whole}<p>' if tag == 'ul' else whole)
            else:
                die(f'{HEADER}: doxygen finds a {child.tag} in a comment')
            parts.append(self.code(child.tail or ''))
        return re.sub(r'<p>\s*</p>', '', ''.join(parts))

    def declared(self, item):
        """Returns what stands in the header of a function, a macro or an opaque type."""
        if item.get('kind') == 'define':
            return self.code(re.sub(r' */\*.*|\s*\\$', '', self.lines[self.line(item) - 1]))
        text = re.match('[^;{]*[^;{ ]', '\n'.join(self.lines[self.line(item) - 1:]))[0]
        return self.code(text.replace('POSENC_API ', '') + ';')

    def members(self, item):
        """Returns fields of a struct or values of an enum; those without a comment stand before the one of the next."""
        parts = ''
        for one in item.iter('enumvalue' if item.get('kind') == 'enum' else 'memberdef'):
            name = one.findtext('name')
            if item.get('kind') == 'enum':
                text, anchor = f'{name} {one.findtext("initializer") or ""}', name
            elif item.get('kind') == 'struct':
                text = ''.join(one.find('type').itertext()) + f' {name}{one.findtext("argsstring") or ""}'
                anchor = f'{self.name(item)}.{name}'
            else:
                break
            parts += f'<dt id="{anchor}"><code>{self.code(re.sub("([*(]) ", chr(92) + "1", text))}</code></dt>\n'
            parts += f'<dd>{self.about(one)}</dd>\n' if self.about(one) else ''
        return f'<dl>\n{parts}</dl>\n' if parts else ''

    def entry(self, group, shown):
        """Returns an item, with those behind it that share its comment. An example is shown once in a section."""
        kind = f'{group[0].get("kind")} ' if group[0].get('kind') in ('struct', 'enum') else ''
        names = ', '.join(f'<code id="{self.name(item)}">{self.name(item)}</code>' for item in group)
        declared = [self.declared(item) for item in group if item.get('kind') not in ('struct', 'enum')]
        text = f'<h3>{kind}{names}</h3>\n' + (f'<pre>{chr(10).join(declared)}</pre>\n' if declared else '')
        text += ''.join(f'{self.about(item)}\n{self.members(item)}' for item in group)
        for name in (self.name(item) for item in group if item.get('kind') == 'function'):
            example = next((one for one, body in self.examples.items() if re.search(rf'\b{name}\(', body)), None)
            if not example:
                die(f'examples/functions.c has no example of {name}')
            if example not in shown:
                shown[example] = f'example-{name}'
                body = self.code(re.sub(r'^  | +(?= /\*)', '', self.examples[example], flags=re.M).rstrip())
                text += f'<pre class="example" id="{shown[example]}">{body}</pre>\n'
            elif f'#{shown[example]}"' not in text:
                text += f'<p class="index"><a href="#{shown[example]}">Example</a></p>\n'
        return text

    def page(self):
        text, title = f'<h1>posenc.h</h1>\n{self.about(self.file)}\n', None
        titles = {number: re.match(r'/\* ---- (.*?) -+ \*/', line)[1] for number, line in enumerate(self.lines, 1)
                  if line.startswith('/* ---- ')}
        groups = []
        for item in self.items:
            if groups and not self.about(item) and self.lines[self.line(item) - 2]:
                groups[-1].append(item)
            else:
                groups.append([item])
        for group in groups:
            now = titles[max(number for number in titles if number < self.line(group[0]))]
            if now != title:
                title, shown = now, {}
                anchor = re.sub(r'\W+', '-', title)
                text += f'<h2 id="{anchor}"><a href="#{anchor}">{title}</a></h2>\n'
            text += self.entry(group, shown)
        return text


class Page(HTMLParser):
    """What a page has: ids, links, and what a browser loads by itself."""

    LOADED = re.compile('(img|script|iframe|source|video|audio|embed|input) src|(link|use|image|base) (xlink:)?href|'
                        'object data|form action|.* (srcset|poster|background|ping|http-equiv)')

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = [], [], []
        text = path.read_text()
        self.feed('' if path.suffix == '.css' else text)
        text = re.sub(r'<script\b.*?</script>', '', text, flags=re.S)
        self.loaded += re.findall(r'url\(\s*["\']?([^"\')]*)|@import\s*["\']([^"\']*)', text)
        self.loaded = [''.join(one) for one in self.loaded]

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == 'id':
                self.ids.append(value)
            elif name == 'http-equiv' and value.lower() == 'content-security-policy':
                continue  # it forbids, and loads nothing
            elif self.LOADED.fullmatch(f'{tag} {name}'):
                self.loaded.append(value or '')
            elif name == 'href':
                self.links.append(value)


def check(out):
    """Prints what is wrong with the pages of a folder; returns whether anything is, or none is there."""
    pages = {path: Page(path) for path in sorted(out.resolve().rglob('*')) if path.suffix in ('.html', '.css', '.svg')}
    wrong = 0
    for path, page in pages.items():
        found = [f'two things have the id {name}' for name in sorted(set(page.ids)) if page.ids.count(name) > 1]
        found += [f'is not of this folder: {to}' for to in page.loaded if re.match('(?!data:)[a-zA-Z+]+:|/', to)]
        for link in page.links + page.loaded:
            target, _, anchor = link.partition('#')
            if re.match('(https?|mailto|data):|//', link):
                continue
            to = (path.parent / unquote(target)).resolve() if target else path
            if not to.is_file() or out.resolve() not in to.parents:
                found.append(f'a link leads nowhere: {link}')
            elif anchor and unquote(anchor) not in pages[to].ids:
                found.append(f'a link leads to no part of its page: {link}')
        for what in found:
            print(f'site: {path.relative_to(out.resolve())}: {what}')
        wrong += len(found)
    return wrong > 0 or not pages


if __name__ == '__main__':
    if len(sys.argv) == 4:
        Site(*(Path(name).resolve() for name in sys.argv[1:])).make()
    elif len(sys.argv) != 3 or sys.argv[1] != '--check':
        sys.exit(__doc__)
    sys.exit(check(Path(sys.argv[-1])))
