const arg = require('arg');
const http = require('http');

const args = arg({
  '--help': Boolean,
  '--port': Number,
  '--host': String,
  '--open': Boolean,
  '--header': [String],
  '-p': '--port',
  '-h': '--help',
});
if (args['--help']) {
  console.log('serve-docs [folder] [--port n] [--host name] [--open] [--header h]...');
  process.exit(0);
}
const folder = args._[0] || 'docs';
http.createServer((req, res) => res.end(folder)).listen(args['--port'] || 4000, args['--host']);
