import yargs from 'yargs'; import { hideBin } from 'yargs/helpers';
const argv = yargs(hideBin(process.argv))
 .command('$0 <src> [dst]', 'copies', (y) => y.positional('src', { type: 'string', describe: 'source' }).positional('dst', { type: 'string', default: 'out' }))
 .option('port', { alias: 'p', type: 'number', default: 80, describe: 'port' })
 .option('verbose', { alias: 'v', type: 'boolean', default: false })
 .option('tags', { type: 'array', string: true, describe: 'tags' })
 .option('nums', { type: 'array', number: true })
 .option('env', { choices: ['dev', 'prod'], demandOption: true })
 .option('dry-run', { type: 'boolean' })
 .option('level', { type: 'count', alias: 'l' })
 .option('name', { type: 'string' })
 .strict().help().parse();
console.log(JSON.stringify(argv));
