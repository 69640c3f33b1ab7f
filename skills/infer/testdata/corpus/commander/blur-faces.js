#!/usr/bin/env node
const { Command } = require('commander');
const program = new Command();

program
  .description('Blur the faces in photos')
  .argument('<photos...>', 'photos to change')
  .option('-s, --strength <n>', 'strength of the blur', parseFloat, 12.5)
  .option('-m, --model <path>', 'model that finds faces')
  .option('--in-place', 'overwrite the photos')
  .action((photos, options) => {
    for (const photo of photos) console.log(photo, options.strength, options.model, options.inPlace);
  });

program.parse();
