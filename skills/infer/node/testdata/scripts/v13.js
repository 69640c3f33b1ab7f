const { program } = require('commander');
program.version('0.1.0').arguments('<cmd> [env]').action((c, e) => {}).option('-p, --peppers', 'Add peppers').option('-c, --cheese [type]', 'Add cheese', 'marble').option('--dirs <d>', 'dirs', (v) => v.split(',')).option('-f, --float <n>', 'fl', parseFloat).option('-N, --num <n>', 'n', Number, 3);
program.parse(process.argv);
const o = program.opts(); if (!o.dirs) program.help();
