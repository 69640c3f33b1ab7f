const { spawn } = require('child_process');
spawn('eslint', ['.', ...process.argv.slice(2)]);
