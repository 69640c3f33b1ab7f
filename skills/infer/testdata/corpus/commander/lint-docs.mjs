#!/usr/bin/env node
import { Command } from 'commander';
import { readFileSync } from 'fs';

// Collects repeated options.
function collect(value, previous) {
  return previous.concat([value]);
}

function increaseVerbosity(_, previous) {
  return previous + 1;
}

const program = new Command('lint-docs');
program.description('Check Markdown files for broken links and long lines');
program.argument('[files...]', 'Markdown files to check');
program.option('-i, --ignore <rule>', 'rule to ignore (repeatable)', collect, []);
program.option('-v, --verbose', 'more output, repeat for more', increaseVerbosity, 0);
program.option('--max-length <columns>', 'longest line', Number.parseFloat);
program.option('--fix', 'repair what can be repaired', false);
program.parse();

const options = program.opts();
let failures = 0;
for (const file of program.args) {
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.forEach((line, index) => {
    if (options.maxLength && line.length > options.maxLength && !options.ignore.includes('max-length')) {
      console.log(`${file}:${index + 1} line is too long`);
      failures++;
    }
  });
}
process.exit(failures ? 1 : 0);
