const argv = require('yargs/yargs')(process.argv.slice(2))
  .option('top', { type: 'number', default: 5 })
  .option('hex', { type: 'boolean' })
  .coerce('area', (text) => text.split('x').map(Number))
  .option('area', { type: 'string', describe: 'part of the image as WxH' })
  .parse();

const [image] = argv._;
console.log('colours of', image, argv.area, argv.top, argv.hex);
