// SPDX-License-Identifier: MIT
// The page that computes: runs the command in a worker, and shows what it says. Nothing is sent anywhere.
'use strict';

// Runs one command in a program of its own, as each process has. create: emscripten's function; program: the compiled
// WebAssembly; mount: gives the program its files; take: looks at its files afterwards, and returns `taken`.
async function compute(create, program, list, mount, take) {
  const out = [], err = [];
  let status = null;
  const made = await create({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(program, imports).then(done);
      return {};
    },
    stdin: () => null,
    stdout: (byte) => byte === null || out.push(byte),
    stderr: (byte) => byte === null || err.push(byte),
    quit: (code, thrown) => {
      status = code;
      throw thrown;
    },
  });
  mount(made.FS, made.WORKERFS);
  try {
    made.callMain(list);
  } catch (thrown) {
    if (status === null || thrown.name !== 'ExitStatus') {
      status = 134; // as a shell says of a process that is aborted
      err.push(...new TextEncoder().encode(`posenc: stopped: ${thrown.message || thrown}\n`));
    }
  }
  const taken = take ? take(made.FS) : null;
  return {status, out: new Uint8Array(out), err: new Uint8Array(err), taken, memory: made.HEAP8.length};
}

// In the worker: each message is a question. Files are read in slices, by WORKERFS.
function work() {
  const SLICE = 2 ** 18;
  let program = null;

  // Reads bytes of a file, as WORKERFS does. The browser frees what it has read late, and rows are small and many, so
  // the last slice is kept. Returns how many bytes there are.
  function readKept(node, reader, buffer, offset, length, position) {
    const count = Math.max(Math.min(length, node.size - position), 0);
    for (let done = 0; done < count;) {
      const at = position + done, begin = at - at % SLICE;
      if (node.begin !== begin) {
        node.kept = new Uint8Array(reader.readAsArrayBuffer(node.contents.slice(begin, begin + SLICE)));
        node.begin = begin;
      }
      const part = node.kept.subarray(at - begin, at - begin + count - done);
      if (!part.length) return done; // the file was cut
      buffer.set(part, offset + done);
      done += part.length;
    }
    return count;
  }

  onmessage = async ({data: {packed, number, list, files}}) => {
    if (packed) {
      const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
      program = new Response(unpacked).arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
      return;
    }
    const mount = (FS, WORKERFS) => {
      FS.mkdir('/made');
      FS.mkdir('/files');
      FS.mount(WORKERFS, {blobs: files.map(({name, file}) => ({name, data: file}))}, '/files');
      WORKERFS.stream_ops.read = (stream, ...where) => readKept(stream.node, WORKERFS.reader, ...where);
      FS.chdir('/files');
    };
    const take = (FS) => FS.readdir('/made').slice(2).map((name) => FS.readFile(`/made/${name}`)); // without . and ..
    const failed = (thrown) => ({status: 134, out: new Uint8Array(), taken: [], memory: 0,
      err: new TextEncoder().encode(`posenc: ${thrown}\n`)});
    const answer = await program.then((of) => compute(posenc, of, list, mount, take)).catch(failed);
    postMessage({number, ...answer});
  };
}

// The words of a command line, as a shell has them; and the other way round.
const words = (line) => (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) || [])
  .map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
// The options of these names, or the others, with their values.
const only = (list, names) => list.filter((word, n) => names.test(word) || names.test(list[n - 1] || ''));
const without = (list, names) => list.filter((word, n) => !names.test(word) && !names.test(list[n - 1] || ''));
const OF_FORMULA = /^--(dim|base|choose-base|scale|shift|scaling|layout|odd|grid)$/;
const OF_CHECK = /^--(dim|base|choose-base|scale|shift|scaling|layout|odd|grid|offset|positions|padding|part|max-...)$/;
const OF_ROW = /^--(len|offset|dtype)$/;
const quoted = (word) => (/^[\w.,:=+@%\/-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);

function page() {
  const at = (id) => document.getElementById(id);
  const decoder = new TextDecoder();
  let worker = null, number = 0, waiting = new Map(), memory = 0;

  function start() {
    const text = `${GLUE}\n${compute}\n(${work})();`;
    worker = new Worker(URL.createObjectURL(new Blob([text], {type: 'text/javascript'})));
    worker.postMessage({packed: Uint8Array.from(atob(PROGRAM), (c) => c.charCodeAt(0))});
    worker.onmessage = ({data}) => {
      memory = Math.max(memory, data.memory);
      waiting.get(data.number)(data);
      waiting.delete(data.number);
    };
  }

  function stop() {
    worker.terminate();
    waiting = new Map();
    start();
  }

  // Asks the command. hidden: further options that only this page needs.
  function ask(files, list, hidden = []) {
    return new Promise((done) => {
      waiting.set(++number, (answer) => done({
        ...answer,
        line: ['posenc', ...list].map(quoted).join(' '),
        out: decoder.decode(answer.out),
        err: decoder.decode(answer.err),
      }));
      worker.postMessage({number, list: [...list, ...hidden], files});
    });
  }

  function add(parent, kind, text, attributes = {}) {
    const space = kind.startsWith('svg:') ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml';
    const made = document.createElementNS(space, kind.replace('svg:', ''));
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return parent.appendChild(made);
  }

  // An answer: heading, the line that says it, and all that the command printed, behind its command line.
  function show(title, answer, main, isOpen) {
    const section = add(at('answers'), 'section');
    add(section, 'h2', title);
    const failed = answer.status > 1;
    add(section, 'p', failed ? answer.err.trim() : main, {class: answer.status ? 'wrong' : 'right'});
    if (!failed && answer.err) add(section, 'p', answer.err.trim());
    const whole = add(section, 'details');
    whole.open = isOpen && !failed;
    add(add(whole, 'summary'), 'code', answer.line);
    add(whole, 'pre', answer.out || answer.err, {tabindex: 0, 'aria-label': `output of ${answer.line}`});
    return section;
  }

  const digits = (x) => (x === 0 ? '0' : x.toExponential(2));

  // The largest error from each power of two of positions on; both axes are logarithmic.
  function plot(section, points) {
    const drawn = points.filter((p) => p.max_abs > 0 && Math.abs(p.position) > 0);
    if (drawn.length < 2) return;
    const width = 600, height = 260, left = 60, below = 40;
    const xs = drawn.map((p) => Math.log2(Math.abs(p.position))), ys = drawn.map((p) => Math.log10(p.max_abs));
    const low = Math.floor(Math.min(...ys)), high = Math.max(low + 1, Math.ceil(Math.max(...ys)));
    const x = (v) => left + ((v - Math.min(...xs)) / (Math.max(...xs) - Math.min(...xs) || 1)) * (width - left - 20);
    const y = (v) => 15 + ((high - v) / (high - low)) * (height - below - 15);
    const last = drawn[drawn.length - 1];
    const told = [drawn[0], last].map((p) => `${digits(p.max_abs)} from position ${p.position} on`).join(', ');
    const svg = add(section, 'svg:svg', '', {viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `Largest absolute error: ${told}`});
    for (let v = low; v <= high; v++) {
      add(svg, 'svg:line', '', {x1: left, x2: width - 20, y1: y(v), y2: y(v), stroke: 'var(--line)'});
      add(svg, 'svg:text', `1e${v}`, {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'});
    }
    const step = Math.ceil(drawn.length / 10);
    drawn.forEach((p, n) => {
      const under = {x: x(xs[n]), y: height - below + 18, 'text-anchor': 'middle'};
      if (n % step === 0) add(svg, 'svg:text', String(p.position), under);
      add(add(svg, 'svg:circle', '', {cx: x(xs[n]), cy: y(ys[n]), r: 4, fill: 'var(--curve)'}), 'svg:title',
        `from position ${p.position} on: ${digits(p.max_abs)}`);
    });
    add(svg, 'svg:polyline', '', {points: xs.map((v, n) => `${x(v)},${y(ys[n])}`).join(' '), fill: 'none',
      stroke: 'var(--curve)', 'stroke-width': 2});
    add(svg, 'svg:text', 'position', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'});
    add(section, 'p', 'Largest absolute error against position. The output has the numbers.', {class: 'hint'});
  }

  // The values of one row, which the command rounds once: it writes them as a .npy file of one row.
  async function row(list) {
    const position = at('row').value;
    const line = ['write', '--len', '1', ...list, '--dtype', 'f32', '--offset', position];
    const answer = await ask([], line, ['-o', '/made/row.npy']);
    answer.line += ' -o row.npy';
    const title = `Exact values at position ${position}`;
    const section = show(title, answer, 'Each is the real number, rounded once to f32.', false);
    if (answer.status) return;
    const bytes = answer.taken[0].buffer;
    const values = new Float32Array(bytes.slice(10 + new DataView(bytes).getUint16(8, true)));
    const scroll = {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'exact values'};
    const table = add(add(section, 'div', '', scroll), 'table');
    add(table, 'caption', `${values.length} columns`);
    const head = add(table, 'tr'), body = add(table, 'tr');
    add(head, 'th', 'column', {scope: 'row'});
    add(body, 'th', 'value', {scope: 'row'});
    values.forEach((value, column) => {
      add(head, 'th', String(column), {scope: 'col'});
      add(body, 'td', value.toPrecision(9));
    });
  }

  async function table(files, name, config, options) {
    const given = [...config, ...options];
    const save = ['--save', '/made/record.json'];
    const identified = await ask(files, ['identify', name, ...without(given, OF_CHECK)], save);
    show('What it is', identified, identified.out.split('\n')[0], false);
    const record = identified.taken[0] ? JSON.parse(decoder.decode(identified.taken[0])) : {};
    // Without a formula of the caller's, the one that was found is checked: then errors are those of the numbers.
    const isOpen = config.length === 0 && only(given, OF_FORMULA).length === 0 && typeof record.check === 'string';
    const found = isOpen ? words(record.check) : [];
    const checked = await ask(files, ['check', name, ...found, ...given], save);
    const lines = checked.out.split('\n');
    const verdict = lines.filter((line) => /^(PASS|FAIL|no verdict|likely cause)/.test(line)).join('; ');
    const section = show('Is it right', checked, verdict.replace(/ {2,}/g, ': '), false);
    if (!checked.taken[0]) return;
    const one = JSON.parse(decoder.decode(checked.taken[0])).records[0];
    const worst = one.max_abs;
    const place = worst && (worst.place || `row ${worst.row}, column ${worst.column}`);
    if (worst) add(section, 'p', `Largest error: ${digits(worst.abs)} at ${place}.`);
    plot(section, one.positions || one.by_position || []);
    if (one.shape && one.shape.op === 'table') {
      await row(['--dim', String(one.shape.dim), ...without(only([...found, ...options], OF_FORMULA), /^--dim$/)]);
    }
  }

  async function answer(list, options) {
    const files = list.map((file, n) => {
      const same = list.slice(0, n).some((other) => other.name === file.name);
      return {file, name: (same ? `${n + 1}-` : '') + file.name};
    });
    const path = ({name}) => (name.startsWith('-') ? './' : '') + name;
    const model = async (of, from) => {
      const listed = await ask(files, ['list', '--config', path(of), ...options]);
      show('The model', listed, `Its rope, as the ${from} tells it.`, true);
    };
    const configs = files.filter(({name}) => /\.json$/i.test(name));
    const tables = files.filter((file) => !configs.includes(file));
    if (configs.length > 1 || tables.length > 2) {
      at('answers').textContent = 'One or two tables, and one config, are taken at a time.';
    } else if (tables.length === 2) {
      const difference = await ask(files, ['diff', ...tables.map(path), ...options]);
      show('What differs', difference, difference.out.split('\n')[0] || 'Nothing: the tables are the same.', true);
    } else if (tables.length === 1) {
      const isModel = /\.gguf$/i.test(tables[0].name) && !options.includes('--tensor');
      if (isModel) await model(tables[0], 'file');
      else await table(files, path(tables[0]), configs.length ? ['--config', path(configs[0])] : [], options);
    } else if (configs.length === 1) {
      await model(configs[0], 'config');
    } else {
      await row(without(options, OF_ROW));
    }
  }

  // Only one question is asked at a time: of one that is stopped, no more is heard.
  let isAsking = false;
  function end(words) {
    isAsking = false;
    at('stop').disabled = true;
    at('state').textContent = words;
  }

  async function run(list) {
    const begin = performance.now();
    if (isAsking) stop();
    isAsking = true;
    memory = 0;
    at('answers').textContent = '';
    at('state').textContent = 'Computing …';
    at('stop').disabled = false;
    await answer(list, words(at('options').value));
    const seconds = ((performance.now() - begin) / 1000).toFixed(2);
    end(`Done in ${seconds} s, with ${Math.ceil(memory / 1e6)} MB of memory.`);
  }

  start();
  at('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    run([...at('files').files]);
  });
  at('files').addEventListener('change', () => run([...at('files').files]));
  at('stop').addEventListener('click', () => {
    stop();
    end('Stopped.');
  });
  for (const kind of ['dragover', 'dragleave', 'drop'])
    at('drop').addEventListener(kind, (event) => {
      event.preventDefault();
      at('drop').classList.toggle('over', kind === 'dragover');
      if (kind === 'drop') at('files').files = event.dataTransfer.files, run([...event.dataTransfer.files]);
    });
}

if (typeof module !== 'undefined') module.exports = {compute};
else page();
