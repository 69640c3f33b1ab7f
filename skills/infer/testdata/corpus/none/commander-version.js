// Prints the installed version of commander.
const { version } = require('commander/package.json');
console.log(version);
