#!/usr/bin/env node
'use strict';
const yargs = require('yargs');

const commands = {
  generate: {
    command: 'generate <model> [count]',
    describe: 'generate records',
    builder: {
      seed: { type: 'number', describe: 'seed of the random numbers' },
      locale: { type: 'string', default: 'en', describe: 'language of the texts' },
    },
    handler: (argv) => console.log(argv.model, argv.count, argv.seed),
  },
  wipe: {
    command: 'wipe <model>',
    aliases: ['clear'],
    describe: 'delete all records',
    builder: (y) => y.option('yes', { alias: 'y', type: 'boolean', demandOption: true, describe: 'really' }),
    handler: (argv) => console.log('wipe', argv.model),
  },
};

yargs.command(commands.generate).command(commands.wipe).demandCommand(1).help().argv;
