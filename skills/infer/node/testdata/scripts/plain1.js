const fs = require('fs');
const args = process.argv.slice(2);
const opts = { format: 'json', limit: 10, verbose: false, tags: [] };
let input;
for (let i = 0; i < args.length; i++) {
  const arg = args[i];
  if (arg === '--format' || arg === '-f') { opts.format = args[++i]; }
  else if (arg === '--limit') opts.limit = parseInt(args[++i], 10);
  else if (arg === '--tag') { opts.tags.push(args[i + 1]); i++; }
  else if (arg.startsWith('--out=')) opts.out = arg.slice('--out='.length);
  else if (arg === '--verbose') opts.verbose = true;
  else if (arg.startsWith('-')) { console.error('unknown'); process.exit(1); }
  else input = arg;
}
if (!input) { console.error('Usage: plain1 <input>'); process.exit(1); }
console.log(JSON.stringify({ ...opts, tag: opts.tags, input }));
