'use strict';
const argv = require('yargs')
  .usage('$0 <url>')
  .alias('c', 'connections')
  .number('c')
  .default('c', 10)
  .describe('c', 'connections at the same time')
  .alias('d', 'duration')
  .number('duration')
  .default('duration', 30)
  .describe('duration', 'seconds')
  .boolean('json')
  .describe('json', 'print JSON')
  .string('method')
  .choices('method', ['GET', 'POST'])
  .describe('method', 'HTTP method')
  .demandCommand(1, 1, 'a URL is needed')
  .argv;

const autocannon = require('autocannon');
autocannon({ url: argv._[0], connections: argv.c, duration: argv.duration, method: argv.method }, (err, result) => {
  if (err) throw err;
  console.log(argv.json ? JSON.stringify(result) : result.requests.average);
});
