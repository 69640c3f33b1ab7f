const yargs = require('yargs');
const argv = yargs.command('start [port]', 'start it', (y) => { y.positional('port', { describe: 'p', default: 5000 }); }, (a) => {}).option('verbose', { alias: 'v', type: 'boolean', description: 'Run' }).help().alias('help', 'h').argv;
