import { parseArgs } from 'node:util';
const { values } = parseArgs({ options: { base: { type: 'string', default: '#3366ff' }, steps: { type: 'string', default: '9' }, css: { type: 'boolean' } } });

// Prints shades of a colour, from light to dark.
const [r, g, b] = values.base.match(/\w\w/g).map((h) => parseInt(h, 16));
const steps = Number(values.steps);
for (let i = 1; i <= steps; i++) {
  const f = i / (steps + 1);
  const shade = [r, g, b].map((c) => Math.round(c * f).toString(16).padStart(2, '0')).join('');
  console.log(values.css ? `--shade-${i}: #${shade};` : `#${shade}`);
}
