import getopts from 'getopts';
const argv = process.argv.slice(2);
const options = getopts(argv, { alias: { topic: ['t'], priority: ['p'] }, string: ['topic'], default: { priority: 3, topic: 'alerts' }, stopEarly: false });
const message = options._.join(' ');
if (!message) {
  console.error('usage: notify [-t topic] [-p priority] <message...>');
  process.exit(1);
}
await fetch(`https://ntfy.sh/${options.topic}`, { method: 'POST', body: message, headers: { priority: String(options.priority) } });
