import commandLineArgs from 'command-line-args';
import { readFileSync } from 'node:fs';

const definitions = [
  { name: 'input', alias: 'i', type: String },
  { name: 'since', type: String },
  { name: 'top', type: Number, defaultValue: 10 },
  { name: 'json', type: Boolean, defaultValue: false },
];
const { input, since, top, json } = commandLineArgs(definitions);
const rows = JSON.parse(readFileSync(input, 'utf8')).filter((r) => !since || r.date >= since).slice(0, top);
console.log(json ? JSON.stringify(rows) : rows.map((r) => r.title).join('\n'));
