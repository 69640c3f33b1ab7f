import { program } from 'commander';
const today = new Date().toISOString().slice(0, 10);
program
  .description('Costs of the cloud')
  .requiredOption('--account <id>', 'account')
  .option('--from <date>', 'first day')
  .option('--to <date>', 'last day', today)
  .option('--group-by <keys...>', 'group by', ['service'])
  .option('--min <usd>', 'smallest amount', Number, 0.01)
  .parse();
console.log(program.opts());
