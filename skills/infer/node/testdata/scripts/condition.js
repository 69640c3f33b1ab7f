const { program } = require('commander');
if (process.env.X) program.option('--extra <x>', 'extra');
program.parse();
