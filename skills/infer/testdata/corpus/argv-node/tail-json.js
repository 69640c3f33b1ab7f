#!/usr/bin/env node
/**
 * Pretty-print a log of JSON lines.
 *
 * Usage: node tail-json.js <logfile> [--level=LEVEL] [--no-color]
 */
const fs = require('fs');

const args = process.argv.slice(2);
const file = args.find((a) => !a.startsWith('--'));
const levelArg = args.find((a) => a.startsWith('--level='));
const level = levelArg ? levelArg.split('=')[1] : 'info';
const color = !args.includes('--no-color');

if (!file) {
  console.error('Usage: node tail-json.js <logfile> [--level=LEVEL] [--no-color]');
  process.exit(1);
}
for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
  if (!line) continue;
  const entry = JSON.parse(line);
  if (entry.level !== level) continue;
  console.log(color ? `\x1b[36m${entry.time}\x1b[0m ${entry.msg}` : `${entry.time} ${entry.msg}`);
}
