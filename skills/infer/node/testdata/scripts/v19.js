const args = require('minimist')(process.argv.slice(2));
if (args.help || !args.url) { console.log('Usage: x --url <url> [--depth n]'); process.exit(0); }
crawl(args.url, args.depth || 2, args.verbose);
function crawl(u, d, v) { if (v) console.log(u, d); }
