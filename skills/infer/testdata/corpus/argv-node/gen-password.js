#!/usr/bin/env node
// gen-password.js [length]
const crypto = require('crypto');

const length = parseInt(process.argv[2] || '20', 10);
const alphabet = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
let password = '';
for (let i = 0; i < length; i++) password += alphabet[crypto.randomInt(alphabet.length)];
console.log(password);
