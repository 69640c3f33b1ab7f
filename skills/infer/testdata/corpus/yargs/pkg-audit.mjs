import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { execFileSync } from 'node:child_process';

const argv = await yargs(hideBin(process.argv))
  .option('level', {
    alias: 'l',
    describe: 'lowest severity that fails',
    choices: ['low', 'moderate', 'high', 'critical'],
    default: 'high',
  })
  .option('production', { alias: 'p', type: 'boolean', default: false, describe: 'without development dependencies' })
  .option('ignore', { type: 'array', string: true, describe: 'advisories to ignore' })
  .strict()
  .parse();

const args = ['audit', '--json', `--audit-level=${argv.level}`];
if (argv.production) args.push('--omit=dev');
const report = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
for (const [name, entry] of Object.entries(report.vulnerabilities)) {
  if (argv.ignore?.includes(name)) continue;
  console.log(`${name}: ${entry.severity}`);
}
