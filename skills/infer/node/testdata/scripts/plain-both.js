const fs = require('fs');
const [old, fresh] = process.argv.slice(2).map((f) => JSON.parse(fs.readFileSync(f, 'utf8')));
if (process.argv.length < 4) process.exit(2);
console.log(old, fresh);
