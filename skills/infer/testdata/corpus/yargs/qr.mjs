import yargs from 'yargs';
import QRCode from 'qrcode';

const argv = yargs(process.argv.slice(2))
  .option('text', { type: 'string', demandOption: true, desc: 'text of the code' })
  .option('out', { type: 'string', default: 'qr.png', desc: 'file to write' })
  .option('level', { type: 'string', choices: ['L', 'M', 'Q', 'H'], default: 'M', desc: 'error correction' })
  .option('margin', { type: 'number', default: 4, desc: 'modules around it' })
  .parse();

await QRCode.toFile(argv.out, argv.text, { errorCorrectionLevel: argv.level, margin: argv.margin });
