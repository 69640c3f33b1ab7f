const getopts = require('getopts');
const puppeteer = require('puppeteer');

const config = {
  alias: { output: ['o'], format: ['f'], landscape: ['l'], scale: ['s'] },
  string: ['output', 'format'],
  boolean: ['landscape'],
  default: { output: 'page.pdf', format: 'A4', scale: 1 },
};
const options = getopts(process.argv.slice(2), config);
const [page] = options._;
if (!page) throw new Error('usage: html-to-pdf <page> [-o file] [-f format] [-l] [-s scale]');

(async () => {
  const browser = await puppeteer.launch();
  const tab = await browser.newPage();
  await tab.goto(page);
  await tab.pdf({ path: options.output, format: options.format, landscape: options.landscape, scale: options.scale });
  await browser.close();
})();
