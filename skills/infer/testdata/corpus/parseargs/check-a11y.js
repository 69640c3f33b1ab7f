#!/usr/bin/env node
import util from 'util';
import { AxePuppeteer } from '@axe-core/puppeteer';

const { values, positionals } = util.parseArgs({
  options: {
    tags: { type: 'string', multiple: true, default: ['wcag2a', 'wcag2aa'] },
    'fail-on': { type: 'string', default: 'serious' },
    'no-color': { type: 'boolean' },
  },
  allowPositionals: true,
});
if (positionals.length < 1) {
  console.error('Usage: check-a11y [options] <url...>');
  process.exit(1);
}
for (const url of positionals) console.log(url, values.tags, values['fail-on'], AxePuppeteer);
