import { parseArgs, type ParseArgsConfig } from 'node:util';
import { readFileSync } from 'fs';

const config: ParseArgsConfig = {
  options: {
    model: { type: 'string', short: 'm', default: 'text-embedding-3-small' },
    'batch-size': { type: 'string', default: '64' },
    input: { type: 'string', short: 'i' },
    'dry-run': { type: 'boolean' },
  },
  allowPositionals: false,
};

const { values } = parseArgs(config);
const lines = readFileSync(values.input as string, 'utf8').split('\n');
const size = parseInt(values['batch-size'] as string, 10);
for (let i = 0; i < lines.length; i += size) {
  console.log(`batch of ${Math.min(size, lines.length - i)} for ${values.model}`);
  if (values['dry-run']) continue;
}
