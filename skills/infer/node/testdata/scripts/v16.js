const getopts = require("getopts");
const options = getopts(process.argv.slice(2), { alias: { w: "turbo", p: "warp" }, default: { turbo: true, speed: 1 }, stopEarly: true });
console.log(options.turbo, options.warp, options._);
