const fs = require('fs');
const [,, input, output = 'out.json'] = process.argv;
if (!input) { console.error('Usage: node a1.js <input> [output]'); process.exit(1); }
fs.writeFileSync(output, fs.readFileSync(input));
