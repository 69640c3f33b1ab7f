#!/usr/bin/env node
const { argv } = require('yargs')
  .option('columns', { alias: 'c', default: 80, describe: 'longest line', type: 'number' })
  .option('indent', { default: '', describe: 'before each line', type: 'string' });
const text = require('fs').readFileSync(0, 'utf8');
for (const line of text.split('\n')) console.log(argv.indent + line.slice(0, argv.columns));
