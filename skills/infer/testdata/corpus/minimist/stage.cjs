#!/usr/bin/env node
const parse = require('minimist');
const { execSync } = require('child_process');

const opts = parse(process.argv.slice(2), { boolean: ['all', 'patch'], alias: { A: 'all', p: 'patch' }, unknown: () => true });
const paths = opts._;
if (opts.all) execSync('git add -A', { stdio: 'inherit' });
else if (opts.patch) execSync('git add -p', { stdio: 'inherit' });
else paths.forEach((p) => execSync(`git add -- "${p}"`, { stdio: 'inherit' }));
