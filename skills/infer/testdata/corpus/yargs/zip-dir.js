const argv = require('yargs')
  .command('$0 <dir> [archive]', 'zip a folder', (y) => {
    y.positional('dir', { describe: 'folder to zip', type: 'string' });
    y.positional('archive', { describe: 'archive to write', type: 'string', default: 'out.zip' });
  })
  .option('level', { type: 'number', choices: [1, 5, 9], default: 5, describe: 'compression' })
  .option('hidden', { type: 'boolean', default: false, describe: 'with hidden files' })
  .help().argv;
console.log(argv.dir, argv.archive, argv.level, argv.hidden);
