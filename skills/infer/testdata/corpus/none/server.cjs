const http = require('http');
const port = process.env.PORT || 3000;
http.createServer((request, response) => {
  const args = new URL(request.url, 'http://localhost').searchParams;
  response.end(JSON.stringify(Object.fromEntries(args)));
}).listen(port, () => console.log('listening on', port));
