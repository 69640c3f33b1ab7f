#!/usr/bin/env node
var argv = require('yargs')
  .boolean(['verbose', 'exponential'])
  .string(['url', 'body'])
  .number('times')
  .array('header')
  .alias('v', 'verbose')
  .default({ times: 3, exponential: false })
  .demandOption(['url'])
  .describe({ url: 'address to call', times: 'how often', body: 'body to send' })
  .argv;

async function main() {
  for (let i = 0; i < argv.times; i++) {
    const res = await fetch(argv.url, { method: argv.body ? 'POST' : 'GET', body: argv.body });
    if (res.ok) return console.log(await res.text());
    if (argv.verbose) console.error('try', i + 1, res.status);
    await new Promise((r) => setTimeout(r, argv.exponential ? 1000 * 2 ** i : 1000));
  }
  process.exitCode = 1;
}
main();
