#!/usr/bin/env node
const argv = require('yargs/yargs')(require('yargs/helpers').hideBin(process.argv))
  .option('stats', { type: 'string', demandOption: true, describe: 'statistics of the bundler' })
  .option('limit', { type: 'number', describe: 'limit in kB' })
  .option('gzip', { type: 'boolean', default: true, describe: 'compressed sizes' })
  .wrap(100).argv;
console.log(argv.stats, argv.limit, argv.gzip);
