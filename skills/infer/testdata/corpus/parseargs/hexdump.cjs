const { parseArgs } = require('node:util');
const fs = require('node:fs');
function cli() {
  const { values, positionals } = parseArgs({
    options: { width: { type: 'string', short: 'w', default: '16' }, offset: { type: 'string', short: 's', default: '0' }, ascii: { type: 'boolean', short: 'a' } },
    allowPositionals: true,
  });
  const [file] = positionals;
  if (!file) {
    console.error('usage: hexdump.cjs [-w n] [-s n] [-a] <file>');
    process.exit(1);
  }
  return { file, ...values };
}
const { file, width, offset, ascii } = cli();
console.log(fs.readFileSync(file).subarray(+offset, +offset + +width).toString(ascii ? 'latin1' : 'hex'));
