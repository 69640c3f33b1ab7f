#!/usr/bin/env node
const getopts = require('getopts');
const fs = require('fs');
const opts = getopts(process.argv.slice(2), { alias: { depth: ['d', 'levels'], numbers: 'n' }, boolean: ['numbers'], default: { depth: 3 } });
const file = opts._[0];
if (!file) {
  console.error('usage: mdtoc.js [-d n] [-n] <file>');
  process.exit(1);
}
fs.readFileSync(file, 'utf8').split('\n').filter((l) => /^#+ /.test(l)).slice(0, opts.depth).forEach((l, i) => console.log(opts.numbers ? i + 1 : '-', l));
