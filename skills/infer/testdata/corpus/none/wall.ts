import os from 'node:os';
console.log(os.hostname(), os.uptime(), os.loadavg().map((n) => n.toFixed(2)).join(' '));
