const args = process.argv.slice(2);
const command = args[0];
const file = args[1]; // the file to work on
if (!command) { help(); process.exit(1); }
if (command === 'read') { console.log(file); } else if (command === 'write') { console.log(file, args[2]); } else { help(); process.exit(1); }
function help() { console.log('Usage: sub <read|write> <file> [text]'); }
