import tls from 'node:tls';
import { parseArgs } from 'node:util';

// Prints when the certificate of a host expires.
const args = parseArgs({
  strict: true,
  allowPositionals: true,
  options: { port: { type: 'string', default: '443' }, warn: { type: 'string', default: '30' } },
});

const host = args.positionals.at(0);
if (!host) {
  console.error('cert-info.ts <host> [--port 443] [--warn 30]');
  process.exit(2);
}
const socket = tls.connect({ host, port: Number(args.values.port), servername: host }, () => {
  const left = (Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / 86400000;
  console.log(`${host}: ${Math.floor(left)} days`);
  socket.end();
  process.exitCode = left < Number(args.values.warn) ? 1 : 0;
});
