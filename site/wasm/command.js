// SPDX-License-Identifier: MIT
// Runs the command that is compiled to WebAssembly in node, on the files of this machine: node command.js FOLDER
// ARGUMENT..., with posenc.js and posenc.wasm in FOLDER. Output, exit status and files are the command's. With @LIST
// alone after FOLDER, LIST is a file with an argument list as JSON on each line, run one after the other, and what each
// printed and its status are printed as a line of JSON.
'use strict';
const fs = require('fs');
const path = require('path');
const {compute} = require('./compute.js');

const folder = path.resolve(process.argv[2]);
const create = require(path.join(folder, 'posenc.js'));
const given = process.argv.slice(3);

// The folders of this machine, but for those that the program has of its own.
// They are read as in a browser, whose files cannot be mapped.
function mount(FS, NODEFS) {
  NODEFS.stream_ops.mmap = undefined;
  for (const name of fs.readdirSync('/')) {
    const isFolder = fs.statSync('/' + name, {throwIfNoEntry: false})?.isDirectory();
    if (['dev', 'proc', 'sys'].includes(name) || !isFolder) continue;
    if (!FS.analyzePath('/' + name).exists) FS.mkdir('/' + name);
    FS.mount(NODEFS, {root: '/' + name}, '/' + name);
  }
  FS.chdir(process.cwd());
}

(async () => {
  const program = await WebAssembly.compile(fs.readFileSync(path.join(folder, 'posenc.wasm')));
  const one = (list) => compute(create, program, list, mount);
  if (given.length === 1 && given[0].startsWith('@')) {
    for (const line of fs.readFileSync(given[0].slice(1), 'utf8').split('\n').filter(Boolean)) {
      const {status, out, err} = await one(JSON.parse(line));
      const text = (bytes) => Buffer.from(bytes).toString('latin1');
      console.log(JSON.stringify({status, out: text(out), err: text(err)}));
    }
    return;
  }
  const {status, out, err} = await one(given);
  fs.writeSync(1, out);
  fs.writeSync(2, err);
  process.exitCode = status;
})();
