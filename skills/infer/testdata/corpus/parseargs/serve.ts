#!/usr/bin/env node
import http from 'node:http';
import { createReadStream } from 'node:fs';
import util from 'node:util';

const config = {
  options: {
    port: { type: 'string', short: 'p', default: '8080' },
    host: { type: 'string', default: '127.0.0.1' },
    cors: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
} as const;

const { values, positionals } = util.parseArgs(config);
const root = positionals[0] ?? '.';

if (values.help) {
  console.log('serve [folder] [--port 8080] [--host 127.0.0.1] [--cors]');
  process.exit(0);
}
http.createServer((req, res) => {
  if (values.cors) res.setHeader('access-control-allow-origin', '*');
  createReadStream(root + req.url).pipe(res);
}).listen(Number(values.port), values.host);
