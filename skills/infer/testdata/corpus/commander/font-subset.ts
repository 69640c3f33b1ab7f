import { Command } from 'commander';
import subsetFont from 'subset-font';
import { readFile, writeFile } from 'node:fs/promises';

const program = new Command();
program.argument('<font>', 'font file').argument('<text>', 'characters to keep');
program.option('--format <format>', 'woff2, woff or sfnt', 'woff2');
program.option('-o, --output <file>', 'file to write');
program.parse();

const [font, text] = program.args;
const { format, output } = program.opts();
const result = await subsetFont(await readFile(font), text, { targetFormat: format });
await writeFile(output ?? `${font}.${format}`, result);
