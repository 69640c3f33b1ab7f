const args = process.argv.slice(2);
if (args.length < 2) { console.error('Usage: node plain2.js <source> <target> [--mode <m>] [--force]'); process.exit(1); }
const [source, target] = args;
const mIdx = args.indexOf('--mode');
const mode = mIdx !== -1 ? args[mIdx + 1] : 'copy';
const force = args.includes('--force');
const nm = args.find(a => a.startsWith('--name='))?.split('=')[1] || 'anon';
console.log(JSON.stringify({ source, target, mode, force, name: nm }));
