const yargs = require('yargs/yargs');
const { hideBin } = require('yargs/helpers');

const parser = yargs(hideBin(process.argv))
  .option('dir', { type: 'string', default: '.cache', describe: 'folder of the cache', global: true });

parser.command('stats', 'show the size', {}, ({ dir }) => console.log(dir));
parser.command('prune', 'remove what is old', {
  days: { type: 'number', default: 7, describe: 'older than so many days' },
  'dry-run': { type: 'boolean', describe: 'remove nothing' },
}, ({ dir, days, dryRun }) => console.log(dir, days, dryRun));
parser.command(['get <key>', 'show <key>'], 'print an entry', (y) => y.positional('key', { type: 'string', describe: 'key of the entry' }), ({ key }) => console.log(key));
parser.demandCommand(1, 'which command?').parse();
