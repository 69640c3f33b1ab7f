import { parseArgs } from 'util';
let parsed;
try { parsed = parseArgs({ args: process.argv.slice(2), strict: true, allowPositionals: true, options: { help: { type: 'boolean', short: 'h' }, url: { type: 'string' }, retries: { type: 'string', default: '3' } } }); } catch (err) { console.error(err.message); process.exit(2); }
const { values, positionals } = parsed;
if (values.help) { console.log('usage'); process.exit(0); }
if (!values.url) { console.error('--url is required'); process.exit(2); }
const retries = Number(values.retries);
for (const p of positionals) console.log(p, retries);
