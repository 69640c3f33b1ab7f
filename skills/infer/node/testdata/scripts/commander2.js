const { program } = require('commander');
program.option('-g, --global <x>', 'global').option('-D, --debug');
program.command('add').description('adds').argument('<name>').argument('[values...]').option('-f, --force').option('--level <n>', 'level', Number).action((name, values, o) => out({command:'add', name, values, ...o}));
program.command('remove <id>').alias('rm').option('-f, --force').action((id, o) => out({command:'remove', id, ...o}));
const remote = program.command('remote');
remote.command('set-url <name> <url>').option('--push').action((name, url, o) => out({command:'remote', remote_command:'set-url', name, url, ...o}));
remote.command('list').action(o => out({command:'remote', remote_command:'list'}));
function out(o) { console.log(JSON.stringify({...program.opts(), ...o})); }
program.parseAsync(process.argv);
