const args = process.argv.slice(2);
function hasFlag(n) { return args.includes(`--${n}`); }
function val(n, d) { const p = args.find(a => a.startsWith(`--${n}=`)); return p ? p.slice(`--${n}=`.length) : d; }
const limit = parseInt(val('limit', '5'), 10), fmt = val('format', 'json'), force = hasFlag('force');
if (!['json', 'csv'].includes(fmt)) { console.error('bad'); process.exit(1); }
