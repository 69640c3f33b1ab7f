const arg = require('arg');
const args = arg({ '--help': Boolean, '--port': Number, '--name': String, '--tag': [String], '--verbose': arg.COUNT, '-v': '--verbose', '-n': '--name', '-x': String, '--all': Boolean });
const input = args._[0];
if (!input || !args['--name']) { console.error('usage'); process.exit(1); }
const out = {}; for (const k of Object.keys(args)) out[k.replace(/^-+/, '')] = args[k];
console.log(JSON.stringify({ ...out, input }));
