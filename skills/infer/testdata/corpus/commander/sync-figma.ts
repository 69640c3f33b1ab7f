#!/usr/bin/env tsx
import { Command, Option } from 'commander';
const createCommand = () => new Command('sync-figma').description('Download tokens from Figma');
const program = createCommand();
program
  .addOption(new Option('-k, --key <key>', 'key of the file').makeOptionMandatory(true))
  .addOption(new Option('-o, --out <file>', 'file to write').default('tokens.json'))
  .addOption(new Option('-f, --format <format>').choices(['json', 'css', 'scss']).default('json'))
  .action(async (options: { key: string; out: string; format: string }) => {
    const res = await fetch(`https://api.figma.com/v1/files/${options.key}/styles`);
    console.log(options.out, options.format, res.status);
  });
void program.parseAsync(process.argv);
