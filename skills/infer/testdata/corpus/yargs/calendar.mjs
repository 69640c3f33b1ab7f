import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
const parser = yargs(hideBin(process.argv));
parser
  .command('add <title> <date>', 'add an event', (y) => {
    return y
      .positional('title', { type: 'string', describe: 'title' })
      .positional('date', { type: 'string', describe: 'day' })
      .option('remind', { type: 'number', default: 10, describe: 'minutes before' });
  }, (argv) => console.log(argv.title, argv.date, argv.remind))
  .command('week', 'events of the week', (y) => y.option('zone', { type: 'string', default: 'UTC', describe: 'time zone' }), (argv) => console.log(argv.zone))
  .strictCommands()
  .demandCommand(1);
await parser.parseAsync();
