#!/usr/bin/env node
const getopts = require('getopts');
const fs = require('fs');

const options = getopts(process.argv.slice(2), {
  alias: { depth: 'd', all: 'a', help: 'h' },
  boolean: ['all', 'help'],
  default: { depth: 3 },
});

if (options.help) {
  console.log('tree.js [-d depth] [-a] [folder]');
  process.exit(0);
}
const root = options._[0] || '.';
(function walk(dir, level) {
  if (level > options.depth) return;
  for (const e of fs.readdirSync(dir, { withFileTypes: true })) {
    if (!options.all && e.name.startsWith('.')) continue;
    console.log('  '.repeat(level) + e.name);
    if (e.isDirectory()) walk(`${dir}/${e.name}`, level + 1);
  }
})(root, 0);
