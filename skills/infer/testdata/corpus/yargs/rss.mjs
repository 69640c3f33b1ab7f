import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

yargs(hideBin(process.argv))
  .command({
    command: 'fetch <url>',
    describe: 'print a feed',
    builder: (y) => y.positional('url', { type: 'string', describe: 'address' }).option('limit', { type: 'number', default: 10, describe: 'entries' }),
    handler: async ({ url, limit }) => console.log(url, limit),
  })
  .command({
    command: 'merge <urls..>',
    describe: 'merge feeds',
    builder: { out: { type: 'string', demandOption: true, describe: 'file to write' } },
    handler: ({ urls, out }) => console.log(urls, out),
  })
  .demandCommand(1)
  .parse();
