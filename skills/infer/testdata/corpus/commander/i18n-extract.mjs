import { Command } from 'commander';
import fg from 'fast-glob';
import fs from 'fs/promises';

const main = async (patterns, options) => {
  const keys = new Set();
  for (const file of await fg(patterns)) {
    const text = await fs.readFile(file, 'utf-8');
    for (const m of text.matchAll(/\bt\(['"]([^'"]+)['"]/g)) keys.add(m[1]);
  }
  const existing = options.merge ? JSON.parse(await fs.readFile(options.output, 'utf-8')) : {};
  for (const key of options.sort ? [...keys].sort() : keys) existing[key] ??= '';
  await fs.writeFile(options.output, JSON.stringify(existing, null, options.indent));
};

new Command()
  .description('Extract translation keys from source files')
  .argument('<patterns...>', 'glob patterns of source files')
  .option('-o, --output <file>', 'output file', 'locales/en.json')
  .option('-s, --sort', 'sort keys')
  .option('--indent <spaces>', 'indentation of the JSON', (s) => parseInt(s), 2)
  .option('--no-merge', 'start with an empty file')
  .action(main)
  .parseAsync(process.argv);
