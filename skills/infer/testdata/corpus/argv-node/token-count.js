const fs = require('fs');
const { encode } = require('gpt-tokenizer');

const file = process.argv.length > 2 ? process.argv[2] : 'prompt.txt';
const limit = process.argv.length > 3 ? Number(process.argv[3]) : 8000;
const tokens = encode(fs.readFileSync(file, 'utf8')).length;
console.log(`${tokens} of ${limit}`);
process.exit(tokens > limit ? 1 : 0);
