#!/usr/bin/env tsx
import { Command } from 'commander';
import fs from 'node:fs/promises';

const program = new Command();
program.name('wordpress').description('Publish posts').option('--site <url>', 'address of the site');

program
  .command('publish <file>')
  .description('publish a Markdown file')
  .option('--status <status>', 'draft or publish', 'draft')
  .option('--categories <ids...>', 'categories', (v: string, all: number[] = []) => [...all, Number(v)])
  .action(async (file: string, o) => console.log(await fs.readFile(file), o, program.opts().site));
program
  .command('media <files...>')
  .description('upload images')
  .option('--alt <text>', 'alternative text')
  .action((files: string[], o) => console.log(files, o));
program.parseAsync(process.argv);
