import { parseArgs } from 'node:util';
const { values } = parseArgs({
  options: {
    prompt: { type: 'string', short: 'p' },
    'max-tokens': { type: 'string', default: '256' },
    system: { type: 'string', short: 's' },
    stream: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
console.log(values.prompt, Number(values['max-tokens']), values.system, values.stream);
