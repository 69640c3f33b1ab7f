#!/usr/bin/env node
import { mkdirSync, writeFileSync } from 'node:fs';

let name = '';
let template = 'basic';
let git = true;
const args = process.argv.slice(2);
while (args.length > 0) {
  const arg = args.shift();
  if (arg === '-t' || arg === '--template') {
    template = args.shift();
  } else if (arg === '--no-git') {
    git = false;
  } else {
    name = arg;
  }
}
if (!name) {
  console.error('Usage: scaffold <name> [-t template] [--no-git]');
  process.exit(1);
}
mkdirSync(name, { recursive: true });
writeFileSync(`${name}/README.md`, `# ${name}\n\n${template}${git ? '' : ' (no git)'}\n`);
