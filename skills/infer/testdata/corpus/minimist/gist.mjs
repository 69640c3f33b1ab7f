import minimist from 'minimist';
import { readFile } from 'fs/promises';

const args = minimist(process.argv.slice(2), {
  boolean: ['public'],
  string: ['description'],
  alias: { d: 'description', p: 'public' },
});
const files = {};
for (const name of args._) files[name] = { content: await readFile(name, 'utf8') };
const res = await fetch('https://api.github.com/gists', {
  method: 'POST',
  headers: { authorization: `Bearer ${process.env.GITHUB_TOKEN}` },
  body: JSON.stringify({ description: args.description, public: args.public, files }),
});
console.log((await res.json()).html_url);
