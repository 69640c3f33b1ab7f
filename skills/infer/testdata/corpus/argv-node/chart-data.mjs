import { readFileSync } from 'node:fs';

function parse(argv) {
  const options = { file: null, column: 'value', json: false };
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i];
    if (arg === '--column') options.column = argv[++i];
    else if (arg === '--json') options.json = true;
    else if (arg.startsWith('-')) throw new Error(`unknown option ${arg}`);
    else options.file = arg;
  }
  if (!options.file) throw new Error('usage: chart-data.mjs FILE [--column NAME] [--json]');
  return options;
}

const { file, column, json } = parse(process.argv.slice(2));
const [head, ...rows] = readFileSync(file, 'utf8').trim().split('\n').map((l) => l.split(','));
const values = rows.map((r) => Number(r[head.indexOf(column)]));
console.log(json ? JSON.stringify(values) : values.join('\n'));
