const { parseArgs } = require('node:util');
const { values: { fields, compact } } = parseArgs({
  options: {
    fields: { type: 'string', multiple: true, short: 'f' },
    compact: { type: 'boolean', short: 'c' },
  },
});
let text = '';
process.stdin.on('data', (d) => (text += d)).on('end', () => {
  const rows = JSON.parse(text).map((r) => Object.fromEntries((fields ?? Object.keys(r)).map((f) => [f, r[f]])));
  console.log(JSON.stringify(rows, null, compact ? 0 : 2));
});
