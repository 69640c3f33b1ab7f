#!/usr/bin/env node
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const { repo, file, dryRun, color } = yargs(hideBin(process.argv))
  .option('repo', { type: 'string', required: true, describe: 'owner/name' })
  .option('file', { type: 'string', normalize: true, default: 'labels.json', describe: 'file with the labels' })
  .option('dry-run', { type: 'boolean', alias: ['n', 'simulate'], describe: 'change nothing' })
  .option('color', { type: 'boolean', default: true, describe: 'coloured output' })
  .group(['dry-run', 'color'], 'Output:')
  .version('1.0.0')
  .parseSync();

const labels = JSON.parse(await (await import('node:fs/promises')).readFile(file, 'utf8'));
for (const label of labels) {
  console.log(color ? `\x1b[32m${label.name}\x1b[0m` : label.name);
  if (!dryRun) await fetch(`https://api.github.com/repos/${repo}/labels`, { method: 'POST', body: JSON.stringify(label) });
}
