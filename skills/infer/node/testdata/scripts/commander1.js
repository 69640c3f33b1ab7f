const { Command, Option, Argument } = require('commander');
const program = new Command();
const collect = (v, prev) => prev.concat([v]);
program.name('x').argument('<src>', 'source').addArgument(new Argument('[mode]', 'mode').choices(['fast','slow']).default('fast')).argument('[rest...]', 'others')
 .option('-p, --port <number>', 'port', (v) => parseInt(v, 10), 3000)
 .option('-r, --ratio <n>', 'ratio', parseFloat)
 .option('-n <name>', 'a name')
 .option('-i, --include <x>', 'include', collect, [])
 .option('-t, --tags <t...>', 'tags')
 .option('--opt [value]', 'optional')
 .option('-q [value]', 'short optional')
 .option('--no-color', 'no color')
 .option('--cache', 'cache').option('--no-cache', 'no cache')
 .option('-v, --verbose', 'verbosity', (d, p) => p + 1, 0)
 .option('-d, --dry-run', 'dry')
 .addOption(new Option('-s, --size <size>', 'size').choices(['s','m','l']).default('m', 'medium'))
 .addOption(new Option('--secret <x>').hideHelp())
 .addOption(new Option('--json').conflicts('yaml'))
 .addOption(new Option('--yaml'))
 .requiredOption('-c, --config <path>', 'config');
program.parse();
console.log(JSON.stringify({ ...program.opts(), src: program.args[0], mode: program.processedArgs[1], rest: program.processedArgs[2] }));
