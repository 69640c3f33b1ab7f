const { hideBin } = require('yargs/helpers');
const Tesseract = require('tesseract.js');
const fs = require('fs');

const parser = require('yargs/yargs')(hideBin(process.argv));
parser.option('lang', { alias: 'l', type: 'string', default: 'eng', describe: 'language of the text' });
parser.option('out', { alias: 'o', type: 'string', describe: 'file to write' });
parser.option('psm', { type: 'number', describe: 'page segmentation mode' });
parser.option('image', { type: 'string', demandOption: 'an image is needed', describe: 'image to read' });
const argv = parser.parseSync();

Tesseract.recognize(argv.image, argv.lang).then(({ data }) => {
  if (argv.out) fs.writeFileSync(argv.out, data.text);
  else console.log(data.text);
});
