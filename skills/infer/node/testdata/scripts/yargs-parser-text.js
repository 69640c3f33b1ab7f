const parse = require('yargs-parser');
console.log(parse('--a 1'));
