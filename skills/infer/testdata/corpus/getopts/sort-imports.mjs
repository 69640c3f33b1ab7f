import getopts from 'getopts';
function parse(argv) {
  return getopts(argv, { boolean: ['check', 'write'], string: ['order'], alias: { check: 'c', write: 'w' }, default: { order: 'builtin,external,local' } });
}
const options = parse(process.argv.slice(2));
for (const file of options._) console.log(file, options.check, options.write, options.order.split(','));
