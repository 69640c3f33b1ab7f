import { parseArgs } from 'node:util';
import { copyFile } from 'node:fs/promises';
const { positionals: [source, target], values } = parseArgs({ allowPositionals: true, options: { force: { type: 'boolean', short: 'f' } } });
if (!source || !target) {
  console.error('Usage: copy-deck <source> <target> [-f]');
  process.exit(1);
}
await copyFile(source, target, values.force ? 0 : 1);
