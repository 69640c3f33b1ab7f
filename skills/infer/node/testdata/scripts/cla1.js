const commandLineArgs = require('command-line-args');
const options = commandLineArgs([{ name: 'verbose', alias: 'v', type: Boolean }, { name: 'src', type: String, multiple: true, defaultOption: true }, { name: 'timeout', alias: 't', type: Number, defaultValue: 5 }]);
console.log(JSON.stringify(options));
