'use strict';
const fs = require('fs');
const config = JSON.parse(fs.readFileSync('site.json', 'utf8'));

function urlOf(page) {
  return `${config.base}/${page.slug}`;
}

const lines = config.pages.map((page) => `  <url><loc>${urlOf(page)}</loc></url>`);
fs.writeFileSync('sitemap.xml', `<?xml version="1.0"?>\n<urlset>\n${lines.join('\n')}\n</urlset>\n`);
console.log(lines.length + ' pages');
