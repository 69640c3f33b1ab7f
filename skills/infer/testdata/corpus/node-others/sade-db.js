#!/usr/bin/env node
const sade = require('sade');
const prog = sade('db');

prog.version('1.0.0').option('--config, -c', 'path of the configuration', 'db.json');

prog.command('backup <target>').describe('Write a backup').option('--gzip', 'compress it').action((target, opts) => {
  console.log('backup', target, opts.gzip, opts.config);
});
prog.command('restore <file>').describe('Read a backup').action((file, opts) => {
  console.log('restore', file, opts.config);
});
prog.parse(process.argv);
