#!/usr/bin/env tsx
import { parseArgs } from 'node:util';

const OPTIONS = {
  repo: { type: 'string', short: 'r' },
  prefix: { type: 'string' },
  apply: { type: 'boolean', default: false },
} as const satisfies NonNullable<Parameters<typeof parseArgs>[0]>['options'];

export async function main(argv = process.argv.slice(2)): Promise<number> {
  const { values } = parseArgs({ args: argv, options: OPTIONS, strict: true });
  if (!values.repo) {
    console.error('Usage: gh-labels.ts --repo owner/name [--prefix text] [--apply]');
    return 1;
  }
  console.log(values.repo, values.prefix, values.apply);
  return 0;
}
process.exitCode = await main();
