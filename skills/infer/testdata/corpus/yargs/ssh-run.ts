#!/usr/bin/env node
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { spawn } from 'node:child_process';

interface Arguments { hosts: string[]; user: string; port: number; command: string }

const argv = yargs(hideBin(process.argv))
  .option('hosts', { alias: 'H', array: true, type: 'string', demandOption: true, describe: 'hosts to run it on' })
  .option('user', { alias: 'u', type: 'string', default: 'root', describe: 'user' })
  .option('port', { type: 'number', default: 22, describe: 'port' })
  .option('command', { alias: 'c', type: 'string', demandOption: true, describe: 'command to run' })
  .option('identity', { type: 'string', implies: 'user', describe: 'key file' })
  .parseSync() as unknown as Arguments;

for (const host of argv.hosts) {
  spawn('ssh', ['-p', String(argv.port), `${argv.user}@${host}`, argv.command], { stdio: 'inherit' });
}
