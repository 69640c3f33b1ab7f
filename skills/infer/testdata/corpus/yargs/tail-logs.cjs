const yargs = require('yargs/yargs');
const args = yargs(process.argv.slice(2));
args.option('group', { alias: 'g', type: 'string', requiresArg: true, demandOption: true, describe: 'log group' });
args.option('follow', { alias: 'f', type: 'boolean', describe: 'follow' });
args.option('since', { type: 'string', default: '10m', describe: 'how far back' });
args.conflicts('follow', 'until').option('until', { type: 'string', describe: 'end' });
const argv = args.argv;
console.log(argv.group, argv.follow, argv.since, argv.until);
