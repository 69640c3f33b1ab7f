import { Command } from 'commander';

export const program = new Command();
program.name('time-track').version('0.2.0', '-v, --vers', 'output the current version');

const start = program.command('start');
start.description('start the clock').argument('<project>', 'project').option('-n, --note <text>', 'note').action((p, o) => console.log(p, o.note));
const stop = program.command('stop');
stop.description('stop the clock').action(() => console.log('stopped'));
const report = program.command('report').description('hours of a month');
report.argument('[month]', 'month as YYYY-MM').option('--by-day', 'one line for each day').option('--rate <eur>', 'hourly rate', parseFloat).action((m, o) => console.log(m, o));

program.parse();
