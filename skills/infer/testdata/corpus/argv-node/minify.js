const fs = require('fs');
const { minify } = require('terser');

const args = process.argv.slice(2);
const outIndex = args.indexOf('-o');
let out = null;
if (outIndex !== -1) {
  out = args[outIndex + 1];
  args.splice(outIndex, 2);
}
const source = args[0];
if (!source) {
  console.error('Usage: minify.js <source> [-o out]');
  process.exit(1);
}
minify(fs.readFileSync(source, 'utf8')).then(({ code }) => (out ? fs.writeFileSync(out, code) : console.log(code)));
