const argv = require('minimist')(process.argv.slice(2), {string: ['name'], boolean: ['force'], default: {port: 80}, alias: {n: 'name', f: 'force'}});
console.log(argv._[0], argv.other || 'x');
