#!/usr/bin/env tsx
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { readFileSync } from 'node:fs';

const argv = yargs(hideBin(process.argv))
  .command('$0 <file> [languages..]', 'translate a PO file', (y) =>
    y
      .positional('file', { type: 'string', describe: 'PO file', demandOption: true })
      .positional('languages', { type: 'string', array: true, describe: 'target languages' })
  )
  .option('engine', { type: 'string', choices: ['deepl', 'google'] as const, default: 'deepl' as const, describe: 'service to use' })
  .option('max', { type: 'number', describe: 'at most so many entries' })
  .parseSync();

const text = readFileSync(argv.file as string, 'utf8');
for (const language of (argv.languages as string[]) ?? ['de']) {
  console.log(`${text.length} bytes to ${language} by ${argv.engine}`);
}
