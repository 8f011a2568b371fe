// SPDX-License-Identifier: MIT
// What tests/wasm.sh asks of the command for WebAssembly, in node, and in Chromium, which it drives over a pipe:
//   node wasm.js questions TREE BUILD FOLDER [BROWSER]   compares answers with those that are recorded in FOLDER
//   node wasm.js malformed TREE BUILD FOLDER             asks about each file of FOLDER
//   node wasm.js page TREE BUILD FOLDER BROWSER          uses the page as a person does, with files of FOLDER
// Prints facts and answers; a line "bad …" tells what is wrong. The exit status is 77 if the browser does not run.
'use strict';
const childProcess = require('child_process');
const fs = require('fs');
const {createHash, webcrypto} = require('crypto');
const {setTimeout: pause} = require('timers/promises');

const [mode, tree, build, folder, browser] = process.argv.slice(2);
const {compute} = require(`${tree}/doc/site/wasm/compute.js`);
const say = (line) => fs.writeSync(1, `${line}\n`);

// ---- questions ----

// Asks each question with its files in memory, under the names that they have on this machine. Returns what the command
// printed, its status, and the files that are new or changed. Node and the browser run this one text.
async function ask(create, program, compute, subtle, questions, read) {
  const answers = [], text = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  for (const {list, folder, files} of questions) {
    const begin = performance.now(), given = new Map();
    for (const {name, from} of files) given.set(name, await read(from));
    const mount = (FS) => {
      FS.mkdirTree(folder);
      for (const [name, bytes] of given) {
        FS.mkdirTree(name.replace(/[^/]*$/, ''));
        FS.writeFile(name, bytes);
        FS.lookupPath(name).node.stream_ops.mmap = undefined; // the page's files cannot be mapped
      }
      FS.chdir(folder);
    };
    const take = (FS) => [...new Set(list)].filter((word) => word && FS.analyzePath(word).exists).flatMap((word) => {
      const {node, path: name} = FS.lookupPath(word), before = given.get(name);
      if (!FS.isFile(node.mode)) return [];
      const bytes = FS.readFile(name);
      return before?.length === bytes.length && bytes.every((byte, n) => byte === before[n]) ? [] : [[name, bytes]];
    });
    const {status, out, err, memory, taken} = await compute(create, program, list, mount, take);
    const written = [];
    for (const [name, bytes] of taken.sort()) {
      const digest = new Uint32Array(await subtle.digest('SHA-256', bytes));
      written.push([name, /\.json$/.test(name) ? text(bytes) : digest.join(' ')]);
    }
    const answer = {status, out: text(out), err: text(err), written};
    answers.push({answer, memory, ms: performance.now() - begin});
  }
  return answers;
}

const inNode = async (list) => ask(require(`${build}/wasm/posenc.js`),
  await WebAssembly.compile(fs.readFileSync(`${build}/wasm/posenc.wasm`)), compute, webcrypto.subtle, list,
  (name) => fs.readFileSync(name));

async function inBrowser(list) {
  fs.writeFileSync(`${folder}.html`, '<!DOCTYPE html>');
  const {close, evaluate} = await open(`file://${folder}.html`);
  await evaluate(`${fs.readFileSync(`${build}/wasm/posenc.js`, 'utf8')}; ${compute}; ${ask};
    var read = async (name) => new Uint8Array(await (await fetch('file://' + name)).arrayBuffer());
    var program = read(${JSON.stringify(`${build}/wasm/posenc.wasm`)}).then((bytes) => WebAssembly.compile(bytes));`);
  const answers = await evaluate(
    `program.then((of) => ask(posenc, of, compute, crypto.subtle, ${JSON.stringify(list)}, read))`);
  await close();
  return answers;
}

// The questions that tests/wasm.sh has recorded: a folder for each, with the words, their files before and after, and
// what the command printed.
function recorded() {
  const digest = (bytes) => new Uint32Array(new Uint8Array(createHash('sha256').update(bytes).digest()).buffer);
  const under = (of) => fs.readdirSync(of, {recursive: true}).sort()
    .map((name) => ({name: `/${name}`, from: `${of}/${name}`})).filter(({from}) => fs.statSync(from).isFile());
  return fs.readdirSync(folder).sort().map((name) => {
    const at = `${folder}/${name}`, read = (of, as = 'latin1') => fs.readFileSync(`${at}/${of}`, as);
    const written = under(`${at}/after`).map(({name, from}) => [name,
      /\.json$/.test(name) ? fs.readFileSync(from, 'latin1') : digest(fs.readFileSync(from)).join(' ')]);
    const native = {status: Number(read('status')), out: read('out'), err: read('err'), written};
    const list = read('words', 'utf8').split('\0').slice(0, -1);
    return {list, folder: read('folder', 'utf8').trim(), files: under(`${at}/before`), name, native};
  });
}

// An answer without what other machines have otherwise: of a record its environment, and what its estimates may be off
// by, which comes from sums of long doubles, of 80 and of 113 bits. All other digits are alike.
const told = (answer) => JSON.stringify(answer, (key, value) => (typeof value !== 'string' || value[0] !== '{' ? value
  : value.replace(/^ *"environment": \{[^}]*\}.*\n/gm, '').replace(/("(base|scale)_error": )[^,]*/g, '$1')), 1);

// Of a first position between whole ones, which such sums estimate, the sentence alone: the digits of all else follow
// from it.
const sentence = (out) => /^ *"sentence": .*$/m.exec(out)?.[0] || out.split('\n')[0];
const asTold = (answer, {list}) => told(list.includes('half-positions.npy')
  ? {...answer, out: sentence(answer.out)} : answer);

// Compares what node and the browser say with what is recorded.
async function questions() {
  const list = recorded(), asked = list.map(({list: words, folder: at, files}) => ({list: words, folder: at, files}));
  for (const [side, of] of [['node', inNode], ...(browser ? [['Chromium', inBrowser]] : [])]) {
    const answers = (await of(asked)).map(({answer}, n) => asTold(answer, list[n]));
    const native = list.map((one) => asTold(one.native, one));
    const wrong = list.map((one, n) => n).filter((n) => answers[n] !== native[n]);
    say(`fact ${side}: ${list.length - wrong.length} answers are the command's`);
    for (const n of wrong.slice(0, 5)) {
      say(`bad ${side}: ${list[n].name}: ${list[n].list.join(' ')}`);
      const [mine, theirs] = [answers[n], native[n]].map((answer) => answer.split(/\\n|\n/));
      theirs.forEach((line, k) => line === mine[k] || say(`bad - ${line}\nbad + ${mine[k]}`));
    }
  }
}

// ---- malformed files ----

// A command may refuse a file in a line, or answer; it has 10 s and 256 MiB, which libFuzzer's runs have, too. What the
// page does with a file is asked of each, and of some all.
async function malformed() {
  const list = fs.readdirSync(folder).flatMap((name, n) => {
    const question = (...words) => ({list: words, folder: '/', files: [{name: `/${name}`, from: `${folder}/${name}`}]});
    const identified = question('identify', name), listed = question('list', '--config', name);
    const isModel = /^\s*\{|^GGUF/.test(fs.readFileSync(`${folder}/${name}`, 'latin1'));
    if (n % 10) return isModel ? [listed] : [identified];
    return [identified, listed, question('check', name), question('diff', name, name)];
  });
  const answers = await inNode(list);
  answers.forEach(({answer: {status, err}, memory, ms}, n) => {
    const isWell = status < 2 || (status === 2 && /^posenc[^\n]*\n$/.test(err));
    if (!isWell || ms > 10000 || memory > 256 * 2 ** 20)
      say(`bad ${list[n].list.join(' ')}: status ${status}, ${ms} ms, ${memory} bytes: ${err}`);
  });
  const refused = answers.filter(({answer}) => answer.status === 2).length;
  const most = (what) => Math.max(...answers.map((one) => one[what]));
  const took = `${most('memory') / 2 ** 20} MiB, ${Math.round(most('ms'))} ms`;
  say(`fact ${list.length} questions, ${refused} refused, at most ${took}`);
}

// ---- a browser ----

// Starts the browser with a page. Returns functions that do something to the page, and all events so far.
async function open(page) {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe',
    `--user-data-dir=${folder}.browser`, '--allow-file-access-from-files', 'about:blank'];
  const child = childProcess.spawn(browser, flags, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const waiting = new Map(), heard = [];
  let rest = '', number = 0, isClosing = false;
  const end = () => isClosing || (say('bad browser: it ended'), process.exit(heard.length ? 1 : 77));
  child.on('exit', end).on('error', end);
  const send = (method, params = {}, sessionId = undefined) => new Promise((done, fail) => {
    waiting.set(++number, ({error, result}) => (error ? fail(Error(`${method}: ${error.message}`)) : done(result)));
    child.stdio[3].write(`${JSON.stringify({id: number, method, params, sessionId})}\0`);
  });
  const listen = (sessionId) => Promise.all([
    ...['Network', 'Runtime', 'Log'].map((domain) => send(`${domain}.enable`, {}, sessionId)),
    send('Target.setAutoAttach', {autoAttach: true, waitForDebuggerOnStart: true, flatten: true}, sessionId),
    send('Runtime.runIfWaitingForDebugger', {}, sessionId)]);
  child.stdio[4].setEncoding('utf8').on('data', (chunk) => {
    const parts = (rest + chunk).split('\0');
    rest = parts.pop();
    for (const message of parts.map((part) => JSON.parse(part))) {
      waiting.get(message.id)?.(message);
      if (message.method === 'Target.attachedToTarget') listen(message.params.sessionId); // the page, or its worker
      if (message.method) heard.push(message);
    }
  });
  const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
  const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
  await send('Page.enable', {}, sessionId);
  const act = (method, params) => send(method, params, sessionId);
  const evaluate = async (expression) => {
    const {result, exceptionDetails: thrown} = await act('Runtime.evaluate',
      {expression, awaitPromise: true, returnByValue: true});
    if (thrown) throw Error(thrown.exception?.description || thrown.text);
    return result.value;
  };
  const load = async () => {
    const before = heard.length;
    await act('Page.navigate', {url: page});
    while (!heard.slice(before).some(({method}) => method === 'Page.loadEventFired')) await pause(5);
  };
  await load();
  const close = () => {
    isClosing = true;
    return send('Browser.close');
  };
  // The most memory that a process of a page has had, in kB.
  const memory = async () => {
    const {processInfo: all} = await send('SystemInfo.getProcessInfo');
    const peaks = all.filter(({type}) => type === 'renderer')
      .map(({id}) => /^VmHWM:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${id}/status`, 'latin1'))[1]);
    return Math.max(...peaks);
  };
  return {act, close, evaluate, heard, load, memory};
}

// ---- the page ----

async function usePage() {
  const {act, close, evaluate, heard, load, memory} = await open(`file://${build}/doc/site/compute.html`);
  const fact = (name, value) => say(`fact ${name} ${value}`);
  const state = () => evaluate('document.getElementById("state").textContent');
  const press = async (key, code, more) => {
    for (const type of ['keyDown', 'keyUp'])
      await act('Input.dispatchKeyEvent', {type, key, code: key, windowsVirtualKeyCode: code, ...more});
  };
  const tab = (modifiers = 0) => press('Tab', 9, {modifiers}), SHIFT = 8;
  const enter = () => press('Enter', 13, {text: '\r'});
  const focused = () => evaluate('document.activeElement.id || document.activeElement.textContent');
  const answered = async () => {
    for (const end = Date.now() + 600000; !/^Done/.test(await state()) && Date.now() < end;) await pause(20);
    return state();
  };
  const drop = async (files) => {
    const {x, y} = await evaluate(`(() => {
      document.getElementById('drop').scrollIntoView({block: 'center'});
      return document.getElementById('drop').getBoundingClientRect().toJSON();
    })()`);
    const data = {items: [], files: files.map((name) => `${folder}/${name}`), dragOperationsMask: 1};
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await act('Input.dispatchDragEvent', {type, x: x + 5, y: y + 5, data});
  };
  const show = async () => fs.writeSync(1, await evaluate(`[...document.querySelectorAll('section')].map((section) =>
    '$ ' + section.querySelector('code').textContent + '\\n' + section.querySelector('pre').textContent).join('')`));

  await act('Emulation.setDeviceMetricsOverride', {width: 320, height: 700, deviceScaleFactor: 2, mobile: true});
  // With keys alone: to the options, a problem, the answer, and the output, which is folded.
  const way = [];
  for (let n = 0; n < 4; n++) way.push((await tab(), await focused()));
  fact('keys', way.join(', '));
  await tab(SHIFT), await tab(SHIFT);
  await act('Input.insertText', {text: '--dim 6'});
  await enter();
  fact('by keys', /^Done/.test(await answered()));
  for (let n = 0; n < 3; n++) await tab();
  await enter();
  fact('unfolded', await evaluate('document.querySelector("details").open && document.activeElement.textContent'));

  for (const [files, options] of JSON.parse(fs.readFileSync(`${folder}/cases.json`))) {
    await evaluate(`document.getElementById('options').value = ${JSON.stringify(options)};
      document.getElementById('state').textContent = ''; document.getElementById('files').value = ''`);
    if (files.length) await drop(files);
    else await evaluate('document.getElementById("ask").requestSubmit()');
    fact(`state of ${files}`, await answered());
    await show();
    if (files[0] !== 'theirs.npy') continue;
    fact('wider', await evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
    // What a screen reader has: roles and names.
    const {nodes} = await act('Accessibility.getFullAXTree');
    for (const {ignored, role, name, properties = []} of nodes) {
      const live = properties.find((one) => one.name === 'live')?.value.value;
      if (!ignored && !/StaticText|InlineTextBox|paragraph|generic|none/.test(role.value))
        say(`heard ${role.value}${live ? ` (${live})` : ''}: ${name?.value}`);
    }
  }
  fact('memory', await memory());

  const times = [];
  for (let n = 0; n < 5; n++) {
    await load();
    await evaluate(`document.addEventListener('drop', () => window.began = performance.now(), true);
      new MutationObserver(() => window.first ??= performance.now())
        .observe(document.getElementById('answers'), {childList: true}); 0`);
    await drop(['theirs.npy']);
    await answered();
    times.push(Math.round(await evaluate('first - began')));
  }
  fact('first answers', times.sort((a, b) => a - b).join(' '));

  const requests = () => heard.filter(({method}) => method === 'Network.requestWillBeSent')
    .map(({params}) => params.request.url).filter((url) => !/^blob:|compute\.html$/.test(url));
  const messages = heard.filter(({method}) => /^Runtime\.(consoleAPICalled|exceptionThrown)$|^Log/.test(method));
  fact('requests', requests().join(' '));
  fact('messages', messages.map(({params}) => JSON.stringify(params)).join(' '));
  fact('refused', await evaluate(`new Promise((done) => {
    document.addEventListener('securitypolicyviolation', ({blockedURI}) => done(blockedURI));
    setTimeout(done, 5000, 'nothing');
    document.body.append(Object.assign(document.createElement('img'), {src: 'https://posenc.invalid/'}));
  })`));
  fact('seen', requests().join(' '));
  await close();
}

({questions, malformed, page: usePage})[mode]().catch((thrown) => {
  say(`bad ${thrown.stack}`);
  process.exitCode = 1;
});
