import sade from 'sade';

sade('pack <src> [dest]', true)
  .version('0.1.0')
  .describe('Pack a folder')
  .option('-l, --level', 'level of compression', 6)
  .option('--dry-run', 'write nothing', false)
  .action((src, dest = 'out.tgz', opts) => {
    console.log(src, dest, opts.level, opts['dry-run']);
  })
  .parse(process.argv);
