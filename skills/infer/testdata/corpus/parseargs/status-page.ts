import { parseArgs } from 'node:util';
const options = { ...{ service: { type: 'string' as const, multiple: true as const } }, since: { type: 'string' as const, default: '24h' }, markdown: { type: 'boolean' as const } };
const { values } = parseArgs({ options, args: process.argv.slice(2) });
console.log(values.service, values.since, values.markdown);
