#!/usr/bin/env node
import { program } from 'commander';

program
  .name('stock')
  .description('Prices of stocks')
  .argument('<symbols...>', 'symbols, such as AAPL')
  .option('-r, --range <range>', 'period', '1mo')
  .option('-c, --currency <code>', 'currency', (code) => code.toUpperCase(), 'EUR')
  .option('--chart', 'draw a chart')
  .option('--no-cache', 'ask again');
program.parse();
for (const symbol of program.args) {
  const { range, currency, chart, cache } = program.opts();
  console.log(symbol, range, currency, chart, cache);
}
