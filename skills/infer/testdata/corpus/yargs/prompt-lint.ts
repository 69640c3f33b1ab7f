import yargs from 'yargs/yargs';
import { hideBin } from 'yargs/helpers';
const argv = yargs(hideBin(process.argv))
  .option('rules', { alias: 'r', type: 'array', choices: ['length', 'tone', 'links'] as const, describe: 'rules' })
  .option('max', { alias: 'm', type: 'number', default: 2000, describe: 'longest prompt' })
  .option('quiet', { alias: 'q', count: true, describe: 'less output' })
  .parseSync();
console.log(argv.rules, argv.max, argv.quiet);
