import { parseArgs } from 'node:util';
const options = { output: { type: 'string', short: 'o', default: 'out' }, verbose: { type: 'boolean', short: 'v', default: false }, tag: { type: 'string', multiple: true, short: 't' }, level: { type: 'boolean', multiple: true, short: 'l' }, 'dry-run': { type: 'boolean' }, count: { type: 'string' } };
const { values, positionals: [input, ...others] } = parseArgs({ options, allowPositionals: true });
if (!input) { console.error('Usage: parseargs1 <input> [others...]'); process.exit(1); }
const count = parseInt(values.count ?? '10', 10);
console.log(JSON.stringify({ ...values, input, others, level: values.level?.length, count }));
