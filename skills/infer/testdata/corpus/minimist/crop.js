#!/usr/bin/env node
const minimist = require('minimist');
const sharp = require('sharp');

const argv = minimist(process.argv.slice(2), {
  string: ['out'],
  boolean: ['flip'],
  alias: { o: 'out' },
  default: { out: 'cropped.png', width: 100, height: 100 },
});

const input = argv._[0];
if (!input) {
  console.error('usage: crop.js <image> [--out file] [--width n] [--height n] [--flip]');
  process.exit(1);
}
let image = sharp(input).extract({ left: 0, top: 0, width: argv.width, height: argv.height });
if (argv.flip) image = image.flip();
image.toFile(argv.out);
