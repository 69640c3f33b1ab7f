import { parseArgs } from 'node:util';
const { values, positionals } = parseArgs({ options: { out: {type:'string', short:'o', default:'x'}, all: {type:'boolean'}, tag: {type:'string', multiple:true} , name: {type:'string'}}, allowPositionals: true });
const [input, extra] = positionals;
if (!input || !values.name) { console.error('Usage: p1 <input> [extra] [options]\n  --out, -o FILE  where to write'); process.exit(1); }
