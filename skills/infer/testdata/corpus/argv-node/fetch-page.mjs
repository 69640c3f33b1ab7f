import TurndownService from 'turndown';

const url = process.argv[2];
if (!url) throw new Error('Usage: node fetch-page.mjs URL');
const html = await (await fetch(url)).text();
console.log(new TurndownService().turndown(html));
