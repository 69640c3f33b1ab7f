import { Command, Option } from '@commander-js/extra-typings';
import { execa } from 'execa';

const program = new Command()
  .name('audio-cut')
  .description('Cut a part out of an audio file')
  .argument('<file>', 'audio file')
  .requiredOption('--start <time>', 'start, as seconds or mm:ss')
  .option('--end <time>', 'end, as seconds or mm:ss')
  .addOption(new Option('--duration <seconds>', 'length instead of an end').argParser(parseFloat).conflicts('end'))
  .addOption(new Option('--codec <codec>', 'audio codec').choices(['aac', 'mp3', 'opus', 'copy'] as const).default('copy' as const))
  .addOption(new Option('--debug', 'print the command').hideHelp())
  .option('-y, --overwrite', 'overwrite the result')
  .parse();

const options = program.opts();
const [file] = program.args;
const args = ['-i', file, '-ss', options.start];
if (options.end) args.push('-to', options.end);
if (options.duration) args.push('-t', String(options.duration));
args.push('-c:a', options.codec, `cut-${file}`);
if (options.overwrite) args.unshift('-y');
await execa('ffmpeg', args, { stdio: 'inherit' });
