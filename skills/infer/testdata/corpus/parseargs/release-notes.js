import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';

const USAGE = `Usage: node release-notes.js --from <tag> [--to <tag>] [--format md|json]

  --from    first tag
  --to      last tag (default HEAD)
  --format  md or json`;

function main() {
  let args;
  try {
    args = parseArgs({
      options: {
        from: { type: 'string' },
        to: { type: 'string', default: 'HEAD' },
        format: { type: 'string', default: 'md' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    console.error(error.message);
    console.error(USAGE);
    process.exit(2);
  }
  if (args.help) return console.log(USAGE);
  const log = execFileSync('git', ['log', '--format=%s', `${args.from}..${args.to}`]).toString();
  console.log(args.format === 'json' ? JSON.stringify(log.split('\n')) : log);
}
main();
