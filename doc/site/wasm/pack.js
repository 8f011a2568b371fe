// SPDX-License-Identifier: MIT
// Makes the page one file, which a browser can show from any place: node pack.js SOURCES BUILT PAGE. The policy of the
// page allows this one script, no other and no connection.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');

const [sources, built, page] = process.argv.slice(2);
const glue = fs.readFileSync(`${built}/posenc.js`, 'utf8');
const program = zlib.gzipSync(fs.readFileSync(`${built}/posenc.wasm`), {level: 9}).toString('base64');
const inside = (text) => JSON.stringify(text).replace(/<\//g, '<\\/');
const own = fs.readFileSync(`${sources}/compute.js`, 'utf8');
const script = `const GLUE = ${inside(glue)}, PROGRAM = "${program}";\n${own}`;
const hash = crypto.createHash('sha256').update(script).digest('base64');
const text = fs.readFileSync(`${sources}/compute.html`, 'utf8')
  .replace('@script@', `'sha256-${hash}' 'wasm-unsafe-eval'`)
  .replace('<script src="compute.js"></script>', () => `<script>${script}</script>`);
fs.writeFileSync(page, text);
