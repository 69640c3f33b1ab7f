import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
const argv = yargs(hideBin(process.argv)).usage('$0 <file>', 'do it', y => y.positional('file', {describe:'the file', type:'string'}))
 .option('size', {alias: 's', type: 'number', default: 3, describe: 'the size'})
 .option('kind', {choices: ['a','b'], demandOption: true}).boolean('v').array('list').strict().parseSync();
console.log(argv.file)
