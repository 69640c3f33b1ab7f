#!/usr/bin/env node
import { readFile, writeFile } from 'node:fs/promises';
import { Resvg } from '@resvg/resvg-js';

const [input, output = input?.replace(/\.svg$/, '.png')] = process.argv.slice(2);
if (!input) {
  console.error('Usage: svg-to-png <input.svg> [output.png]');
  process.exit(1);
}
const png = new Resvg(await readFile(input, 'utf8')).render().asPng();
await writeFile(output, png);
