const argv = require('minimist')(process.argv.slice(2), { string: ['name'], boolean: ['force'], default: { port: 80, kind: 'a' }, alias: { n: 'name', f: 'force' } });
const file = argv._[0]; const extra = argv._[1] || 'none';
if (!file) process.exit(2);
console.log(JSON.stringify({ ...argv, file, extra, title: argv.title || 'none' }));
