import { parseArgs } from 'util';
import { readdirSync, renameSync } from 'fs';

const {
  values: { 'dry-run': dryRun, flags },
  positionals: [pattern, replacement, folder = '.'],
} = parseArgs({
  options: {
    'dry-run': { type: 'boolean', short: 'n', default: false },
    flags: { type: 'string', default: 'g' },
  },
  allowPositionals: true,
});

if (!pattern || replacement === undefined) {
  console.log('usage: rename.mjs [-n] [--flags g] <pattern> <replacement> [folder]');
  process.exit(64);
}
for (const name of readdirSync(folder)) {
  const next = name.replace(new RegExp(pattern, flags), replacement);
  if (next === name) continue;
  console.log(`${name} -> ${next}`);
  if (!dryRun) renameSync(`${folder}/${name}`, `${folder}/${next}`);
}
