const getopts = require('getopts');
const options = getopts(process.argv.slice(2), { string: ['name', 'dir'], boolean: ['force', 'quiet'], alias: { name: 'n', help: 'h', dir: ['d', 'directory'] }, default: { port: 8080, dir: '.' } });
const [file] = options._;
if (!file) { console.error('Usage: getopts1 <file>'); process.exit(1); }
console.log(JSON.stringify({ ...options, file }));
