#!/usr/bin/env node
const { Command } = require('commander');
const { execSync } = require('child_process');

function main() {
  const program = new Command();
  program
    .name('git-stats')
    .description('Statistics of a repository')
    .option('--since <date>', 'first day', '1 month ago')
    .option('--until <date>', 'last day', 'now')
    .option('--by <what>', 'group by author, day or file', 'author')
    .option('-n, --top <count>', 'only the first ones', '10')
    .option('--merges', 'count merges, too');
  program.parse(process.argv);

  const opts = program.opts();
  const format = { author: '%an', day: '%ad', file: '' }[opts.by];
  const cmd = `git log --since="${opts.since}" --until="${opts.until}" ${opts.merges ? '' : '--no-merges'} --date=short --format=${format}`;
  const counts = {};
  for (const line of execSync(cmd, { encoding: 'utf8' }).split('\n')) {
    if (line) counts[line] = (counts[line] || 0) + 1;
  }
  Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, +opts.top)
    .forEach(([key, n]) => console.log(`${n}\t${key}`));
}

main();
