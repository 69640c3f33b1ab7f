const opts = {}; const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) { if (args[i].startsWith('--')) { opts[args[i].slice(2)] = args[i + 1]; i++; } }
console.log(opts.input);
