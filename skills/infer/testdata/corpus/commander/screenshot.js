#!/usr/bin/env node
/*
 * Take a screenshot of a web page.
 */
const puppeteer = require('puppeteer');
const program = require('commander').program;

program
  .arguments('<url> [output]')
  .usage('[options] <url> [output]')
  .option('--viewport <size>', 'size of the window as WIDTHxHEIGHT', '1280x800')
  .option('--full-page', 'the whole page, not only the window')
  .option('--wait <ms>', 'milliseconds to wait before', (value) => Number(value))
  .option('--dark', 'prefer the dark colour scheme')
  .action(async (url, output = 'screenshot.png', options) => {
    const [width, height] = options.viewport.split('x').map(Number);
    const browser = await puppeteer.launch();
    const page = await browser.newPage();
    await page.setViewport({ width, height });
    if (options.dark) await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.goto(url);
    if (options.wait) await new Promise((r) => setTimeout(r, options.wait));
    await page.screenshot({ path: output, fullPage: options.fullPage });
    await browser.close();
  });

program.parse();
