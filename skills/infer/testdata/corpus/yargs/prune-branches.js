#!/usr/bin/env node
'use strict';
const { execSync } = require('child_process');
const yargs = require('yargs/yargs')(process.argv.slice(2));
const options = yargs
  .option('remote', { default: 'origin', string: true, describe: 'remote' })
  .option('keep', { array: true, default: ['main', 'develop'], describe: 'branches to keep' })
  .option('y', { alias: 'yes', boolean: true, describe: 'do not ask' })
  .strictOptions()
  .parseSync();
const out = execSync(`git branch -r --merged ${options.remote}/main`).toString();
out.split('\n').filter((b) => b && !options.keep.some((k) => b.includes(k))).forEach((b) => console.log(b, options.yes));
