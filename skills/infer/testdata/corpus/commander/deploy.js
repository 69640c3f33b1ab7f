#!/usr/bin/env node
'use strict';

const { Command } = require('commander');
const { execSync } = require('child_process');
const fs = require('fs');

const program = new Command();
program.name('deploy').description('Build and deploy the site');

program
  .command('build')
  .description('build the site')
  .option('-m, --mode <mode>', 'build mode', 'production')
  .option('--no-minify', 'do not minify')
  .action((options) => {
    execSync(`vite build --mode ${options.mode}${options.minify ? '' : ' --minify false'}`, { stdio: 'inherit' });
  });

program
  .command('push <environment>')
  .description('push a build to an environment')
  .option('-f, --force', 'skip the checks')
  .option('-t, --tag <tag>', 'tag of the release')
  .action((environment, options) => {
    if (!options.force && !fs.existsSync('dist')) {
      console.error('Nothing is built yet');
      process.exit(1);
    }
    execSync(`rsync -a dist/ deploy@${environment}.example.com:/srv/${options.tag || 'latest'}/`);
  });

program
  .command('rollback <environment> [version]')
  .description('go back to an earlier version')
  .action((environment, version) => {
    console.log(`Rolling back ${environment} to ${version || 'the version before'}`);
  });

program.parse(process.argv);
