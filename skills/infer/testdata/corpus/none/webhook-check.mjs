import process from 'node:process';

// The URL is in WEBHOOK_URL, since process.argv would show up in the list of processes.
const url = process.env.WEBHOOK_URL;
if (!url) {
  console.error('set WEBHOOK_URL');
  process.exit(1);
}
const res = await fetch(url, { method: 'POST', body: '{"text":"ping"}' });
console.log(res.status);
