import minimist from 'minimist';
import { readFileSync, writeFileSync } from 'node:fs';

interface Flags { schema: string; out: string; strict: boolean }

const flags = minimist<Flags>(process.argv.slice(2), {
  string: ['schema', 'out'],
  boolean: 'strict',
  default: { out: 'types.d.ts', strict: true },
});
const schema = JSON.parse(readFileSync(flags.schema, 'utf8'));
const lines = Object.keys(schema.properties).map((key) => `  ${key}${flags.strict ? '' : '?'}: unknown;`);
writeFileSync(flags.out, `export interface ${schema.title} {\n${lines.join('\n')}\n}\n`);
