#!/usr/bin/env node
function parseArgs(argv) {
  const out = { depth: 3, json: false };
  while (argv.length > 0) {
    const a = argv.shift();
    switch (a) {
      case '--depth': out.depth = Number(argv.shift()); break;
      case '--json': out.json = true; break;
      default: out.dir = a;
    }
  }
  return out;
}
async function main() {
  const o = parseArgs(process.argv.slice(2));
  if (!o.dir) { console.log('Usage: plain3 <dir> [--depth N] [--json]'); return; }
  console.log(JSON.stringify(o));
}
main();
