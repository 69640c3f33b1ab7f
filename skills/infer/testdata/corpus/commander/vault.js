#!/usr/bin/env node
const { program } = require('commander');
program.name('vault').option('--addr <url>', 'address of the server', 'http://127.0.0.1:8200');
program
  .command('read <path>')
  .description('read a secret')
  .option('--field <name>', 'one field only')
  .action((path, options, command) => console.log(path, options.field, command.optsWithGlobals().addr));
program
  .command('write <path> <pairs...>')
  .description('write a secret')
  .option('--cas <version>', 'expected version', (v) => parseInt(v, 10))
  .action((path, pairs, options) => console.log(path, pairs, options.cas));
program.parse();
