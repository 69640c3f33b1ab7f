const mri = require('mri');
const args = mri(process.argv.slice(2), { alias: { o: 'output' }, boolean: ['watch'], string: ['output'], default: { limit: 5 } });
console.log(JSON.stringify({ ...args, input: args._[0] }));
const input = args._[0];
