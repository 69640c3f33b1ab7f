#!/usr/bin/env node
import { Command } from 'commander';
import { spawnSync } from 'node:child_process';

const program = new Command();
program.name('monorepo').enablePositionalOptions().configureHelp({ sortSubcommands: true });

program
  .command('run')
  .description('run a script in all packages')
  .argument('<script>', 'script to run')
  .option('-f, --filter <pattern...>', 'only these packages')
  .option('-p, --parallel', 'all at once')
  .action((script, { filter, parallel }) => spawnSync('pnpm', ['-r', script, String(filter), String(parallel)]));

program
  .command('graph', { isDefault: true })
  .description('print the dependencies')
  .option('--format <format>', 'dot or json', 'dot')
  .action(({ format }) => console.log(format));

program.parse();
