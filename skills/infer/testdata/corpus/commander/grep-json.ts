#!/usr/bin/env tsx
import { program } from 'commander';
import { readFileSync } from 'fs';

program
  .argument('<pattern>', 'regular expression')
  .argument('[files...]', 'JSON files')
  .option('-i, --ignore-case', 'do not care about case')
  .option('-k, --keys-only', 'search keys and no values')
  .option('-m, --max-count <n>', 'stop after so many', (value: string): number => parseInt(value, 10))
  .parse();

const [pattern, ...files] = program.args;
const { ignoreCase, keysOnly, maxCount } = program.opts();
const re = new RegExp(pattern, ignoreCase ? 'i' : '');
for (const file of files) {
  const keys = Object.keys(JSON.parse(readFileSync(file, 'utf8')));
  console.log(keys.filter((k) => re.test(k)).slice(0, maxCount), keysOnly);
}
