import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: {
    lang: { type: 'string', short: 'l', default: 'en' },
    sentences: { type: 'string', short: 's' },
    'plain-text': { type: 'boolean' },
  },
  allowPositionals: true,
});
const title = positionals.join(' ');
if (!title) {
  console.error('Which article? wiki.mjs [--lang en] <title...>');
  process.exit(1);
}
const api = `https://${values.lang}.wikipedia.org/api/rest_v1/page/summary/${encodeURIComponent(title)}`;
const { extract } = await (await fetch(api)).json();
console.log(values.sentences ? extract.split('. ').slice(0, +values.sentences).join('. ') : extract);
