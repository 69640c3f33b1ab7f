#!/usr/bin/env node
const program = require('commander');
const AdmZip = require('adm-zip');

program.program
  .option('-d, --dest <folder>', 'where to unpack', './unpacked')
  .option('-k, --keep', 'keep the archives')
  .option('--password <secret>', 'password of the archives')
  .argument('<archives...>', 'archives')
  .action((archives, options) => {
    for (const archive of archives) new AdmZip(archive).extractAllTo(options.dest, true);
  })
  .parse(process.argv);
