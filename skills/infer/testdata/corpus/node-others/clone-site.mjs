#!/usr/bin/env node
import cac from 'cac';
import { mkdir } from 'node:fs/promises';

const cli = cac('clone-site');
cli
  .command('<url>', 'Download a site')
  .option('-o, --out <dir>', 'folder for the files', { default: 'site' })
  .option('--depth <n>', 'how many links deep', { default: 2 })
  .option('--no-assets', 'pages only')
  .action(async (url, options) => {
    await mkdir(options.out, { recursive: true });
    console.log(url, options.depth, options.assets);
  });
cli.help();
cli.parse();
