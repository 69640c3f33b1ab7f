#!/usr/bin/env node
import { chromium } from 'playwright';
import Yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const options = {
  url: { type: 'string', default: 'http://localhost:6006', describe: 'address of the Storybook' },
  out: { type: 'string', alias: 'o', default: 'shots', describe: 'folder for the images' },
  story: { type: 'array', alias: 's', describe: 'only these stories' },
  concurrency: { type: 'number', default: 2, describe: 'pages at the same time' },
  headed: { type: 'boolean', default: false, hidden: false, describe: 'show the browser' },
} as const;

async function main() {
  const argv = await Yargs(hideBin(process.argv)).options(options).parseAsync();
  const browser = await chromium.launch({ headless: !argv.headed });
  const page = await browser.newPage();
  for (const story of argv.story ?? []) {
    await page.goto(`${argv.url}/iframe.html?id=${story}`);
    await page.screenshot({ path: `${argv.out}/${story}.png` });
  }
  await browser.close();
}

void main();
