#!/usr/bin/env node
const { parseArgs } = require('node:util');
const sharp = require('sharp');

const args = parseArgs({
  allowPositionals: true,
  options: { max: { type: 'string', short: 'm', default: '1600' }, suffix: { type: 'string', default: '-small' } },
});
for (const file of args.positionals) {
  sharp(file).resize(Number(args.values.max)).toFile(file.replace(/\.(\w+)$/, `${args.values.suffix}.$1`));
}
