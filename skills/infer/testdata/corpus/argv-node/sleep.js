const seconds = +process.argv[2];
setTimeout(() => console.log('awake'), seconds * 1000);
