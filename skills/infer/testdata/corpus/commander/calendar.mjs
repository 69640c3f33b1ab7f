import { Command, Option } from 'commander';

const program = new Command('calendar');
const dateOption = new Option('-d, --date <date>', 'day as YYYY-MM-DD');
const zoneOption = new Option('-z, --zone <name>', 'time zone').default('UTC').env('TZ');

program.command('today').description('events of today').addOption(zoneOption).action((o) => console.log('today', o.zone));
program
  .command('add')
  .description('add an event')
  .argument('<title>', 'title of the event')
  .addOption(dateOption.makeOptionMandatory())
  .addOption(zoneOption)
  .option('--minutes <n>', 'length', (v) => Number.parseInt(v, 10), 30)
  .action((title, o) => console.log(title, o.date, o.zone, o.minutes));
await program.parseAsync();
