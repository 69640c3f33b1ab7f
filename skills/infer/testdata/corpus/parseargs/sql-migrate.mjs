#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { readdir } from 'node:fs/promises';

const { values: flags, positionals } = parseArgs({
  options: {
    dir: { type: 'string', default: 'migrations' },
    'database-url': { type: 'string', default: process.env.DATABASE_URL },
    to: { type: 'string' },
  },
  allowPositionals: true,
});
const [command] = positionals;
switch (command) {
  case 'up':
    console.log('up', await readdir(flags.dir), flags.to);
    break;
  case 'down':
    console.log('down', flags['database-url'], flags.to);
    break;
  default:
    console.error('usage: sql-migrate.mjs up|down [--dir folder] [--to name]');
    process.exit(2);
}
