#!/usr/bin/env node
const { program, Option } = require('commander');
program
  .name('conv').description('Converts files').version('1.0.0')
  .argument('<input>', 'input file')
  .argument('[output]', 'output file', 'out.txt')
  .option('-p, --port <number>', 'port', parseInt, 80)
  .requiredOption('-c, --cheese <type>', 'pizza type')
  .option('--no-color', 'no colors')
  .option('-t, --tags <tags...>', 'tags')
  .addOption(new Option('-d, --drink <size>', 'drink size').choices(['small', 'medium', 'large']).default('small'))
  .option('-v, --verbose')
  .action((input, output, opts) => { console.log(input) });
program.parse();
