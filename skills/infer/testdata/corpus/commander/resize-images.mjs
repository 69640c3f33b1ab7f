#!/usr/bin/env node
// Resize every image in a folder and write it as WebP.
import { readdir, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { program } from 'commander';
import sharp from 'sharp';

program
  .name('resize-images')
  .description('Resize a folder of images')
  .argument('<input>', 'folder with the images')
  .option('-o, --out <dir>', 'folder for the results', 'resized')
  .option('-w, --width <pixels>', 'maximum width', (v) => parseInt(v, 10), 1200)
  .option('-q, --quality <n>', 'WebP quality', Number, 80)
  .option('--dry-run', 'only print what would be done')
  .parse(process.argv);

const input = program.args[0];
const opts = program.opts();

await mkdir(opts.out, { recursive: true });
for (const name of await readdir(input)) {
  if (!/\.(png|jpe?g)$/i.test(name)) continue;
  const target = path.join(opts.out, path.parse(name).name + '.webp');
  console.log(`${name} -> ${target}`);
  if (opts.dryRun) continue;
  await sharp(path.join(input, name)).resize({ width: opts.width }).webp({ quality: opts.quality }).toFile(target);
}
