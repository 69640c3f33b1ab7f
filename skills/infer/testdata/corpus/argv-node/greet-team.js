const names = process.argv.slice(2);
for (const name of names) {
  console.log(`Hello ${name}, the meeting starts at ten.`);
}
