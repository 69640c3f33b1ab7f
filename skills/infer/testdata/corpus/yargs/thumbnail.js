#!/usr/bin/env node
const yargs = require('yargs/yargs');
const { hideBin } = require('yargs/helpers');
const sharp = require('sharp');

const argv = yargs(hideBin(process.argv))
  .usage('Usage: $0 --input <file> [options]')
  .option('input', { alias: 'i', type: 'string', demandOption: true, describe: 'image to read' })
  .option('size', { alias: 's', type: 'number', default: 128, describe: 'edge in pixels' })
  .option('fit', { choices: ['cover', 'contain', 'fill'], default: 'cover', describe: 'how to fit the image' })
  .option('grayscale', { type: 'boolean', describe: 'without colours' })
  .help()
  .argv;

let image = sharp(argv.input).resize(argv.size, argv.size, { fit: argv.fit });
if (argv.grayscale) image = image.grayscale();
image.toFile(argv.input.replace(/(\.\w+)$/, '-thumb$1'));
