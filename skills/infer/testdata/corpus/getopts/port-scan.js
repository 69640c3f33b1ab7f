'use strict';
const net = require('net');
const getopts = require('getopts');

const args = getopts(process.argv.slice(2), {
  alias: { h: 'host', t: 'timeout' },
  string: ['host'],
  default: { host: 'localhost', timeout: 500, start: 1, end: 1024 },
});
for (let port = args.start; port <= args.end; port++) {
  const socket = net.connect({ port, host: args.host, timeout: args.timeout });
  socket.on('connect', () => { console.log(port); socket.end(); });
  socket.on('error', () => {});
  socket.on('timeout', () => socket.destroy());
}
