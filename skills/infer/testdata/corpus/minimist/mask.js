const argv = require('minimist')(process.argv.slice(2), { string: ['char', '_'], boolean: ['emails', 'phones'], default: { char: '*' } });
const fs = require('fs');
for (const file of argv._) {
  let text = fs.readFileSync(file, 'utf8');
  if (argv.emails) text = text.replace(/\S+@\S+/g, (m) => argv.char.repeat(m.length));
  if (argv.phones) text = text.replace(/\+?\d[\d ]{7,}/g, (m) => argv.char.repeat(m.length));
  console.log(text);
}
