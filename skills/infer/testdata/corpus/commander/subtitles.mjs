#!/usr/bin/env node
import { Command, Argument, Option } from 'commander';

const languages = { en: 'English', de: 'German', ja: 'Japanese' };
const program = new Command();
program
  .addArgument(new Argument('<video>', 'video to read'))
  .addArgument(new Argument('[track]', 'number of the track').argParser((n) => parseInt(n, 10)).default(0))
  .addOption(new Option('-l, --lang <code>', 'language').choices(Object.keys(languages)).default('en'))
  .addOption(new Option('-f, --format <format>', 'format').choices(['srt', 'vtt']).default('srt'))
  .addOption(new Option('--burn', 'draw them into the video'))
  .action((video, track, options) => console.log(video, track, options));
program.parse();
