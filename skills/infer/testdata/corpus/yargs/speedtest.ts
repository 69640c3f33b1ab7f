import yargs, { type Options } from 'yargs';
import { hideBin } from 'yargs/helpers';
const url: Options = { type: 'string', default: 'https://speed.example.com', describe: 'server' };
const runs: Options = { type: 'number', alias: 'n', default: 3, describe: 'how often' };
const argv = yargs(hideBin(process.argv)).option('url', url).option('runs', runs).option('csv', { type: 'boolean', describe: 'print CSV' }).parseSync();
for (let i = 0; i < argv.runs; i++) console.log(argv.url, argv.csv);
