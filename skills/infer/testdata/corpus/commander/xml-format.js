import { readFileSync, writeFileSync } from 'fs';
import { Command } from 'commander';
import format from 'xml-formatter';

const p = new Command;
p.description('Format XML files');
p.argument('<file>', 'file to format');
p.option('-i, --indent <n>', 'spaces', '  ');
p.option('-w, --write', 'write the file');
p.option('--collapse', 'short elements on one line', true);
p.option('--no-collapse', 'each element on lines of its own');
p.parse();
const o = p.opts();
const out = format(readFileSync(p.args[0], 'utf8'), { indentation: o.indent, collapseContent: o.collapse });
o.write ? writeFileSync(p.args[0], out) : console.log(out);
