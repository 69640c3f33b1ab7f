import yargs from 'yargs/yargs';
import { hideBin } from 'yargs/helpers';

const cli = yargs(hideBin(process.argv))
  .command('$0 <before> <after>', 'compare two OpenAPI documents', (yargs) => {
    yargs.positional('before', { describe: 'older document' });
    yargs.positional('after', { describe: 'newer document' });
    yargs.option('breaking-only', { boolean: true, describe: 'only changes that break clients' });
    yargs.option('format', { string: true, default: 'text', describe: 'text or json' });
  }, run);

function run(argv) {
  console.log(argv.before, argv.after, argv.breakingOnly, argv.format);
}

cli.parse();
