#!/usr/bin/env node
import { Command } from 'commander';
const program = new Command();
program
  .name('slides')
  .description('Convert Markdown to slides')
  .argument('<markdown>', 'file to convert')
  .option('-t, --theme <name>', 'theme of the slides', 'default')
  .option('-f, --format <format>', 'html, pdf or pptx', 'html')
  .option('--notes', 'with notes of the speaker')
  .action((markdown, { theme, format, notes }) => console.log(markdown, theme, format, notes));
program.parse();
