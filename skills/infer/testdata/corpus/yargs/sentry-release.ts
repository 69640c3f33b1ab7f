import yargs from 'yargs';

const args = yargs(process.argv.slice(2))
  .env('SENTRY')
  .options({
    org: { type: 'string', demandOption: true, describe: 'organisation' },
    project: { type: 'array', string: true, demandOption: true, describe: 'projects' },
    version: { type: 'string', demandOption: true, describe: 'version of the release' },
    finalize: { type: 'boolean', default: true, describe: 'finalize the release' },
  })
  .version(false)
  .parseSync();
console.log(args.org, args.project, args.version, args.finalize);
