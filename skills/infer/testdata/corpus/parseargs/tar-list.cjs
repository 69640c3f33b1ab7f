const { parseArgs } = require('util');
const { execFileSync } = require('child_process');
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    archive: { type: 'string', short: 'a' },
    verbose: { type: 'boolean', short: 'v', default: false },
    exclude: { type: 'string', short: 'x', multiple: true },
  },
});
const flags = values.verbose ? '-tvf' : '-tf';
console.log(execFileSync('tar', [flags, values.archive, ...(values.exclude || []).map((x) => `--exclude=${x}`)]).toString());
