const args = process.argv.slice(2);
function getArg(name, def) { const i = args.indexOf(`--${name}`); if (i === -1 || i + 1 >= args.length) return def; return args[i + 1]; }
const width = parseInt(getArg('width', '800'), 10);
const url = getArg('url');
const dry = args.includes('--dry-run') || args.includes('-n');
if (!url) { console.log('Usage: a2 --url <url> [--width N] [--dry-run]'); process.exit(1); }
