const opts = { format: 'json', verbose: false, files: [] };
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) {
  const a = args[i];
  switch (a) {
    case '-f': case '--format': opts.format = args[++i]; break;
    case '--count': opts.count = parseInt(args[++i], 10); break;
    case '-v': case '--verbose': opts.verbose = true; break;
    case '-h': case '--help': usage(); process.exit(0);
    default: if (a.startsWith('-')) { console.error('bad'); process.exit(1); } opts.files.push(a);
  }
}
function usage() { console.log(`Usage: a3 [options] <files...>

Options:
  -f, --format FMT  the format
  --count N   how many`); }
if (opts.files.length === 0) { usage(); process.exit(1); }
