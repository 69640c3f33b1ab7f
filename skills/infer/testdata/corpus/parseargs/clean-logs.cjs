'use strict';
const util = require('node:util');
const fs = require('node:fs');
const path = require('node:path');

const parsed = util.parseArgs({
  options: {
    dir: { type: 'string', short: 'd', default: './logs' },
    days: { type: 'string', default: '14' },
    'no-gzip': { type: 'boolean', default: false },
    force: { type: 'boolean', short: 'f', default: false },
  },
});
const limit = Date.now() - Number(parsed.values.days) * 86400e3;
for (const name of fs.readdirSync(parsed.values.dir)) {
  const file = path.join(parsed.values.dir, name);
  if (fs.statSync(file).mtimeMs > limit) continue;
  if (parsed.values.force) fs.unlinkSync(file);
  else console.log('would delete', file);
}
