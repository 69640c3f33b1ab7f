const yargs = require('yargs/yargs'); const { hideBin } = require('yargs/helpers');
yargs(hideBin(process.argv))
 .option('config', { type: 'string', global: true })
 .command('build <target> [files..]', 'builds', { watch: { type: 'boolean', alias: 'w' }, jobs: { type: 'number', default: 2 } }, (a) => console.log(JSON.stringify({ command: 'build', ...a })))
 .command({ command: 'clean', describe: 'cleans', builder: (y) => y.option('all', { type: 'boolean' }), handler: (a) => console.log(JSON.stringify({ command: 'clean', ...a })) })
 .demandCommand(1).strict().parse();
