import { readFileSync } from 'fs';

if (process.argv.length < 4) {
  console.error('usage: diff-json.mjs LEFT RIGHT');
  process.exit(2);
}
const [left, right] = process.argv.slice(2).map((f) => JSON.parse(readFileSync(f, 'utf8')));

function walk(a, b, at) {
  if (a === b) return;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return console.log(at, a, b);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) walk(a[key], b[key], `${at}.${key}`);
}
walk(left, right, '$');
