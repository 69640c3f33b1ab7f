import getopts from 'getopts';

const opts = getopts(process.argv.slice(2), {
  string: ['url', 'method', 'token'],
  boolean: ['verbose'],
  alias: { u: 'url', m: 'method', t: ['token'], v: ['verbose'] },
  default: { method: 'GET' },
});

if (!opts.url) {
  console.error('--url is required');
  process.exit(1);
}
const res = await fetch(opts.url, { method: opts.method, headers: opts.token ? { authorization: `Bearer ${opts.token}` } : {} });
if (opts.verbose) console.error(res.status);
console.log(JSON.stringify(await res.json(), null, 2));
