#!/usr/bin/env node
import { Command } from 'commander';
import ncu from 'npm-check-updates';

const program = new Command();
program
  .option('-u, --upgrade', 'write package.json')
  .option('-t, --target [kind]', 'latest, minor or patch', 'latest')
  .option('--reject <names>', 'packages to leave out')
  .option('--depth <levels>', 'how deep', '1')
  .action(async (options) => {
    const updates = await ncu.run({ upgrade: options.upgrade, target: options.target, reject: options.reject });
    console.log(updates);
  })
  .parse();
