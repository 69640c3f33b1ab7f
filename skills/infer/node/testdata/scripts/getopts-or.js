const options = require('getopts')(process.argv.slice(2), { boolean: ['json'] });
const dirs = options._.length ? options._ : ['.'];
for (const dir of dirs) console.log(dir, options.json);
