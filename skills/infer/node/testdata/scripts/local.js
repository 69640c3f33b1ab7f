const { helper } = require('./lib/helper');
helper();
