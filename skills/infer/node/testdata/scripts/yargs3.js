const argv = require('yargs').usage('Usage: $0 [options] <file>').string('out').alias('o', 'out').boolean(['fast']).default('size', 3).describe('size', 'the size').demandCommand(1).argv;
console.log(JSON.stringify({ ...argv, file: argv._[0] }));
