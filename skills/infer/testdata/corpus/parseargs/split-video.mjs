import { parseArgs } from 'node:util';
const { values, positionals } = parseArgs({
  options: { every: { type: 'string', short: 'e', default: '60' }, prefix: { type: 'string', default: 'part' } },
  allowPositionals: true,
});
const input = positionals[0];
if (!input) {
  console.error('split-video <input> [--every seconds] [--prefix text]');
  process.exit(1);
}
console.log(input, Number(values.every), values.prefix);
