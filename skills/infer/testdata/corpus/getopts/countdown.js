const getopts = require("getopts");

const o = getopts(process.argv.slice(2), {
  boolean: ["silent"],
  string: ["message"],
  default: { seconds: 10, message: "done" },
});

let left = o.seconds;
const timer = setInterval(() => {
  if (!o.silent) console.log(left);
  if (--left <= 0) {
    clearInterval(timer);
    console.log(o.message);
  }
}, 1000);
