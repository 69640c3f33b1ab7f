#!/usr/bin/env node
import { InvalidArgumentError, program } from 'commander';
import { parseDocument } from 'yaml';
import { readFileSync } from 'fs';

function count(value) {
  const n = Number.parseInt(value, 10);
  if (isNaN(n)) throw new InvalidArgumentError('Not a number.');
  return n;
}

program
  .name('yaml-lint')
  .usage('[options] <files...>')
  .argument('<files...>', 'files to check')
  .option('--max-errors <n>', 'stop after so many', count, 20)
  .option('--warnings', 'print warnings, too')
  .addHelpText('after', '\nExample:\n  $ yaml-lint a.yml')
  .allowExcessArguments(false)
  .action((files, { maxErrors, warnings }) => {
    for (const f of files) console.log(parseDocument(readFileSync(f, 'utf8')).errors.slice(0, maxErrors), warnings);
  });
program.parse();
