#!/usr/bin/env node
import getopts from 'getopts';
import { execSync } from 'node:child_process';

const options = getopts(process.argv.slice(2), {
  alias: { from: 'f', strict: 's' },
  string: ['from'],
  boolean: ['strict'],
  default: { from: 'HEAD~1' },
  unknown: (name) => {
    console.error(`unknown option ${name}`);
    process.exit(2);
  },
});
const subjects = execSync(`git log --format=%s ${options.from}..HEAD`, { encoding: 'utf8' }).trim().split('\n');
const bad = subjects.filter((s) => !/^(feat|fix|docs|chore)(\(.+\))?: /.test(s) || (options.strict && s.length > 72));
bad.forEach((s) => console.log(s));
process.exit(bad.length ? 1 : 0);
