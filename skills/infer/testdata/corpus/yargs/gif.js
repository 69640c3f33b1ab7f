#!/usr/bin/env node
const yargs = require('yargs');
const { spawnSync } = require('child_process');

const argv = yargs
  .option('f', { alias: 'fps', demandOption: false, default: 12, type: 'number', describe: 'frames per second' })
  .option('w', { alias: 'width', default: 480, type: 'number', describe: 'width in pixels' })
  .option('loop', { type: 'count', describe: 'loop' })
  .option('v', { alias: 'video', demandOption: true, type: 'string', describe: 'video to convert' })
  .example('$0 -v a.mp4 --fps 20', 'a smoother one')
  .argv;

spawnSync('ffmpeg', ['-i', argv.video, '-vf', `fps=${argv.fps},scale=${argv.width}:-1`, '-loop', String(argv.loop), 'out.gif']);
