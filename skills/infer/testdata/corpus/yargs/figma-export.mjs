#!/usr/bin/env node
import yargs from 'yargs/yargs';
const cli = yargs(process.argv.slice(2))
  .usage('$0 [args]')
  .option('file-key', { type: 'string', describe: 'key of the Figma file', demandOption: true })
  .option('ids', { type: 'string', describe: 'nodes, separated by commas', coerce: (s) => s.split(',') })
  .option('scale', { type: 'number', describe: 'scale', default: 2 })
  .option('format', { describe: 'format', choices: ['png', 'svg', 'pdf'], default: 'png' })
  .alias('k', 'file-key')
  .epilogue('FIGMA_TOKEN must be set');
const { fileKey, ids, scale, format } = cli.parse();
console.log(fileKey, ids, scale, format);
