const getopts = require('getopts');
const fs = require('fs');
const { count, ignoreCase, _: [file] } = getopts(process.argv.slice(2), { boolean: ['count', 'ignoreCase'], alias: { c: 'count', i: 'ignoreCase' } });
const seen = new Map();
for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
  const key = ignoreCase ? line.toLowerCase() : line;
  seen.set(key, (seen.get(key) || 0) + 1);
}
for (const [line, n] of seen) if (n > 1) console.log(count ? `${n} ${line}` : line);
