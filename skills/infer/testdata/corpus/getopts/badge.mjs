import getopts from 'getopts';
import { writeFileSync } from 'node:fs';
const options = getopts(process.argv.slice(2), {
  string: ['label', 'value', 'color', 'out'],
  alias: { label: 'l', value: 'v', color: 'c', out: 'o' },
  default: { color: 'green', out: 'badge.svg' },
});
writeFileSync(options.out, `<svg><text>${options.label}: ${options.value}</text><rect fill="${options.color}"/></svg>`);
