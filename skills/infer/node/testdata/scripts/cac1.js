const { cac } = require('cac'); const cli = cac('x');
cli.option('--type <type>', 'type', { default: 'node' });
cli.command('build <entry> [...others]', 'build it').option('--out <dir>', 'dir').option('--minify', 'min').action((entry, others, o) => console.log(JSON.stringify({ command: 'build', entry, others, ...o })));
cli.command('dev [root]', 'dev').option('--port <port>', 'port', { default: 3 }).action((root, o) => console.log(JSON.stringify({ command: 'dev', root, ...o })));
cli.help(); cli.parse();
