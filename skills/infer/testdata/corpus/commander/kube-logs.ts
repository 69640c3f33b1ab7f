#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { program } from 'commander';

type Flags = { namespace: string; follow?: true; since?: string; tail: string; container?: string; grep: string[] };

program
  .name('kube-logs')
  .summary('logs of pods')
  .description('Show the logs of all pods of a deployment')
  .argument('<deployment>')
  .option('-n, --namespace <name>', 'namespace of the deployment', 'default')
  .option('-f, --follow', 'follow the logs')
  .option('--since <duration>', 'only newer ones, such as 10m')
  .option('--tail <lines>', 'last lines', '200')
  .option('-c, --container <name>', 'one container only')
  .option('-g, --grep <pattern>', 'only lines with the pattern', (value: string, all: string[]) => [...all, value], [])
  .action((deployment: string, flags: Flags) => {
    const args = ['logs', `deployment/${deployment}`, '-n', flags.namespace, `--tail=${flags.tail}`];
    if (flags.follow) args.push('-f');
    if (flags.since) args.push(`--since=${flags.since}`);
    if (flags.container) args.push('-c', flags.container);
    const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', (chunk) => process.stdout.write(chunk));
  });

program.parse(process.argv);
