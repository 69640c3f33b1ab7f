#!/usr/bin/env node
var minimist = require('minimist')
var http = require('http')

var argv = minimist(process.argv.slice(2), {
  default: { port: 3000, host: 'localhost' },
  boolean: ['cors', 'quiet'],
  alias: { p: 'port', h: 'host', q: 'quiet' }
})

http.createServer(function (req, res) {
  if (!argv.quiet) console.log(req.method, req.url)
  if (argv.cors) res.setHeader('access-control-allow-origin', '*')
  res.end('ok')
}).listen(argv.port, argv.host)
