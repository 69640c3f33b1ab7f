const minimist = require('minimist');
const opts = { string: ['zone', 'token'], boolean: ['everything'], default: { token: process.env.CF_TOKEN } };
const argv = minimist(process.argv.slice(2), opts);
if (!argv.zone) { console.error('--zone is missing'); process.exit(1); }
const files = argv._;
fetch(`https://api.cloudflare.com/zones/${argv.zone}/purge`, { method: 'POST', body: JSON.stringify(argv.everything ? { purge_everything: true } : { files }) });
