#!/usr/bin/env node
import { execFileSync } from 'node:child_process';
import { Command } from 'commander';

const FORMATS = ['markdown', 'json', 'text'];

const program = new Command();
program
  .name('changelog')
  .description('Write a changelog from the commits since a tag')
  .argument('[from]', 'tag to start from', 'HEAD~20')
  .argument('[to]', 'tag to end at', 'HEAD');
program.addOption(
  program.createOption('-f, --format <format>', 'output format').choices(FORMATS).default(FORMATS[0])
);
program.option('--types <list>', 'comma-separated types of commits', 'feat,fix');
program.option('--authors', 'with authors');

program.action((from, to, options) => {
  const log = execFileSync('git', ['log', '--format=%h%x09%an%x09%s', `${from}..${to}`], { encoding: 'utf8' });
  const types = options.types.split(',');
  const entries = log.split('\n').filter(Boolean).map((line) => {
    const [hash, author, subject] = line.split('\t');
    return { hash, author, subject };
  }).filter((e) => types.some((t) => e.subject.startsWith(t)));
  if (options.format === 'json') console.log(JSON.stringify(entries));
  else entries.forEach((e) => console.log(`- ${e.subject}${options.authors ? ` (${e.author})` : ''}`));
});

program.parse();
