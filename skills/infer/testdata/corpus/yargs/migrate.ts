import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';

function common(y: Argv): Argv {
  return y.option('url', { type: 'string', describe: 'database to migrate', demandOption: true });
}

yargs(hideBin(process.argv))
  .command(
    'up [steps]',
    'apply migrations',
    (y) => common(y).positional('steps', { type: 'number', describe: 'how many', default: 1 }),
    async (argv) => {
      console.log('up', argv.steps, argv.url);
    },
  )
  .command(
    'down [steps]',
    'revert migrations',
    (y) => common(y).positional('steps', { type: 'number', describe: 'how many', default: 1 }).option('force', { type: 'boolean' }),
    async (argv) => {
      console.log('down', argv.steps, argv.force);
    },
  )
  .command('status', 'show what is applied', common, async (argv) => console.log(argv.url))
  .demandCommand()
  .strict()
  .parse();
