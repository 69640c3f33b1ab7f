#!/usr/bin/env tsx
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

async function main() {
  const argv = await yargs(hideBin(process.argv))
    .option('suite', { type: 'string', array: true, alias: 's', description: 'suites to run', default: ['smoke'] })
    .option('browser', { type: 'string', choices: ['chromium', 'firefox', 'webkit'], default: 'chromium', description: 'browser' })
    .option('retries', { type: 'number', default: 0, description: 'how often to try again' })
    .option('base-url', { type: 'string', description: 'address of the application' })
    .check((a) => { if (a.retries < 0) throw new Error('retries must not be negative'); return true; })
    .argv;
  console.log(argv.suite, argv.browser, argv.retries, argv['base-url']);
}
main();
