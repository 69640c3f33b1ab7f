#!/usr/bin/env node
// Remove EXIF data from photos.
import { parseArgs } from 'node:util';
import sharp from 'sharp';

const { values, positionals } = parseArgs({
  options: {
    out: { type: 'string', short: 'o', default: 'clean' },
    'keep-orientation': { type: 'boolean', default: false },
    verbose: { type: 'boolean', short: 'v' },
  },
  allowPositionals: true,
});

if (positionals.length === 0) {
  console.error('Usage: strip-exif.mjs [--out DIR] [--keep-orientation] FILE...');
  process.exit(1);
}
for (const file of positionals) {
  if (values.verbose) console.log(file);
  let image = sharp(file);
  if (values['keep-orientation']) image = image.rotate();
  await image.toFile(`${values.out}/${file}`);
}
