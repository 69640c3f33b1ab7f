'use strict';
const { spawnSync } = require('node:child_process');

const args = process.argv.slice(2);
if (args.length !== 3) {
  console.error('usage: trim-video.cjs <video> <start> <end>');
  process.exit(1);
}
const [video, start, end] = args;
spawnSync('ffmpeg', ['-ss', start, '-to', end, '-i', video, '-c', 'copy', `trimmed-${video}`], { stdio: 'inherit' });
