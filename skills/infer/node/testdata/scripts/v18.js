const cmd = process.argv[2], rest = process.argv.slice(3);
const commands = { list: () => {}, add: (name) => {} };
if (!commands[cmd]) { console.error('Unknown'); process.exit(1); }
commands[cmd](...rest);
