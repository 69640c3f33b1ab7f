#!/usr/bin/env node
const parser = require('cron-parser');
const [expression, times] = process.argv.slice(2);
if (!expression) {
  console.error("Usage: cron-next '<expression>' [times]");
  process.exit(64);
}
const it = parser.parseExpression(expression);
for (let i = 0; i < (Number(times) || 5); i++) console.log(it.next().toString());
