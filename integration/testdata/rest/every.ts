// Calls every operation of the REST API by fetch, as a person and as a program.
// argv: a JSON object with the server's base, a link that signs in, and a token.
import assert from "node:assert/strict";
import { argv } from "node:process";

import { Client, events, used } from "./fetch.ts";

const target = JSON.parse(argv[2] ?? "{}") as { base: string; link: string; token: string };
const signedIn = await fetch(target.link, { redirect: "manual" });
const cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0];
assert(cookie, `the link does not sign in: ${signedIn.status}`);
const person = new Client(target.base, { Cookie: cookie });
const program = new Client(target.base, { Authorization: `Bearer ${target.token}` });
const stranger = new Client(target.base, {});

// ok returns the result of an answer that is fine.
function ok<T>(answer: { status: number; result: T; text: string }, status = 200): NonNullable<T> {
  assert.equal(answer.status, status, answer.text);
  return answer.result as NonNullable<T>;
}

// skills
const all = ok(await person.call("get", "/v1/skills", { query: { limit: 2 } }));
assert.equal(all.items.length, 2);
assert(all.total > 2 && all.next);
const rest = ok(await person.call("get", "/v1/skills", { query: { limit: 200, cursor: all.next } }));
assert.equal(all.items.length + rest.items.length, all.total);
const found = ok(await program.call("get", "/v1/skills", { query: { q: "greets somebody" } }));
assert.equal(found.items[0]?.name, "greet");
assert.equal(ok(await program.call("get", "/v1/skills/{name}", { path: { name: "greet" } })).class, "safe");
const nested = ok(await program.call("get", "/v1/skills/{name}", { path: { name: "tools/count" } }));
assert.equal(nested.name, "tools/count");
const missing = await program.call("get", "/v1/skills/{name}", { path: { name: "gret" } });
assert.equal(missing.status, 404);
assert.equal(missing.problem?.code, "NOT_FOUND");
assert.match(missing.problem?.detail ?? "", /greet/);

// a run
const run = ok(await program.call("post", "/v1/skills/{name}/execute", { path: { name: "greet" }, body: { params: { name: "Ann" } } }));
assert.equal(run.state, "ended");
assert.equal(run.result?.stdout, "hello Ann\n");
assert.equal(run.result?.exit_code, 0);
const wrong = await program.call("post", "/v1/skills/{name}/execute", { path: { name: "greet" }, body: { params: { nam: "Ann" } } });
assert.equal(wrong.status, 400);
assert.deepEqual(wrong.problem?.error, { code: "INVALID_PARAM", message: wrong.problem?.detail });
const failed = await program.call("post", "/v1/skills/{name}/execute", { path: { name: "fail" }, body: {} });
assert.equal(failed.status, 422);
assert.equal(failed.problem?.error?.code, "EXECUTION_ERROR");
assert.equal(failed.problem?.run?.exit_code, 3);

// its events
const stream = await program.open("post", "/v1/skills/{name}/execute", { path: { name: "tools/count" }, body: {}, accept: "text/event-stream" });
assert.equal(stream.headers.get("Content-Type"), "text/event-stream");
const seen = [];
for await (const e of events(stream)) seen.push(e);
assert.equal(seen.filter((e) => e.event === "stdout").map((e) => e.data.text).join(""), "1\n2\n3\n");
assert.deepEqual(seen.findLast((e) => e.event === "progress")?.data.progress, { done: 3, total: 3 });
assert.equal(seen.at(-1)?.event, "end");
assert.equal(seen.at(-1)?.data.result.exit_code, 0);

// a run to poll
const started = await program.call("post", "/v1/skills/{name}/execute", { path: { name: "wait" }, body: {}, header: { Prefer: "respond-async" } });
assert.equal(started.status, 202, started.text);
assert.equal(started.headers.get("Preference-Applied"), "respond-async");
const location = started.headers.get("Location") ?? "";
const id = location.slice("/v1/runs/".length);
assert.equal(ok(await program.call("get", "/v1/runs/{id}", { path: { id } })).state, "running");
ok(await program.call("delete", "/v1/runs/{id}", { path: { id } }), 204);
const tail = await program.open("get", "/v1/runs/{id}", { path: { id }, accept: "text/event-stream" });
let last;
for await (const e of events(tail)) last = e;
assert.equal(last?.event, "end");
assert.match(last?.data.error.message, /cancel/);
assert.equal(ok(await program.call("get", "/v1/runs/{id}", { path: { id } })).state, "ended");

// a client that leaves ends its run
const leaving = new AbortController();
const left = await program.open("post", "/v1/skills/{name}/execute", { path: { name: "wait" }, body: {}, accept: "text/event-stream", signal: leaving.signal });
for await (const e of events(left)) if (e.event !== "") break;
leaving.abort();
for (;;) {
  const runs = ok(await person.call("get", "/v1/runs", { query: { skill: "wait", limit: 10 } }));
  if (runs.items.filter((r) => r.outcome !== "running").length === 2) break;
  await new Promise((done) => setTimeout(done, 20));
}

// outputs
const made = ok(await program.call("post", "/v1/skills/{name}/execute", { path: { name: "make" }, body: {} }));
assert.equal(made.result?.out?.[0]?.name, "sub/page.html");
const output = await program.open("get", "/v1/runs/{id}/outputs/{path}", { path: { id: made.id, path: "out/sub/page.html" }, accept: "*/*" });
assert.equal(output.status, 200);
assert.match(output.headers.get("Content-Disposition") ?? "", /^attachment/);
assert.match(output.headers.get("Content-Security-Policy") ?? "", /sandbox/);
assert.equal(output.headers.get("X-Content-Type-Options"), "nosniff");
assert.equal(await output.text(), "<script>alert(1)</script>\n");
assert.equal((await person.call("get", "/v1/runs/{id}/outputs/{path}", { path: { id: made.id, path: "out/none" }, accept: "*/*" })).status, 404);

// runs: a program sees its own
ok(await person.call("post", "/v1/skills/{name}/execute", { path: { name: "greet" }, body: { params: { name: "me" } } }));
const own = ok(await program.call("get", "/v1/runs", { query: { skill: "greet" } }));
const every = ok(await person.call("get", "/v1/runs", { query: { skill: "greet" } }));
assert(own.items.length >= 2 && own.items.every((r) => r.principal === "token"), JSON.stringify(own.items.map((r) => r.principal)));
assert(every.items.length > own.items.length);

// subagents: no model is configured
const subagent = { path: { id: "0123456789ab" } };
assert.deepEqual(ok(await program.call("get", "/v1/subagents", { query: { status: "running" } })).items, []);
for (const missing of [await program.call("get", "/v1/subagents/{id}", subagent), await person.call("delete", "/v1/subagents/{id}", subagent)]) {
  assert.equal(missing.status, 404);
  assert.match(missing.problem?.detail ?? "", /agents\.models/);
}

// approvals
const change = { path: { name: "change" }, body: {} };
const asked = await program.call("post", "/v1/skills/{name}/execute", change);
assert.equal(asked.status, 403);
assert.equal(asked.problem?.error?.code, "APPROVAL_REQUIRED");
const approval = asked.problem?.approval;
assert(approval && asked.problem?.retryable);
const question = { path: { id: approval.id } };
assert(ok(await person.call("get", "/v1/approvals")).items.some((a) => a.id === approval.id));
assert.equal(ok(await program.call("get", "/v1/approvals/{id}", question)).state, "pending");
for (const refused of [
  await program.call("post", "/v1/approvals/{id}", { ...question, body: { scope: "once" } }),
  await program.call("post", "/v1/approvals/{id}", { ...question, body: { scope: "once" }, header: { "Approval-Token": "guessed" } }),
  await program.call("delete", "/v1/approvals/{id}", question),
  await program.call("put", "/v1/skills/{name}/enabled", { path: { name: "greet" }, body: { enabled: false } }),
  await program.call("put", "/v1/skills/{name}/pinned", { path: { name: "greet" }, body: { pinned: true } }),
  await program.call("get", "/v1/doctor"),
]) {
  assert.equal(refused.status, 403, refused.text);
  assert.equal(refused.problem?.code, "PERMISSION_DENIED");
}
ok(await person.call("post", "/v1/approvals/{id}", { ...question, body: { scope: "always" } }));
assert.equal(ok(await program.call("post", "/v1/skills/{name}/execute", change)).result?.exit_code, 0);
ok(await person.call("delete", "/v1/approvals/{id}", question), 204);
assert.equal((await program.call("post", "/v1/skills/{name}/execute", change)).problem?.code, "APPROVAL_REQUIRED");

// switches
ok(await person.call("put", "/v1/skills/{name}/enabled", { path: { name: "greet" }, body: { enabled: false } }));
assert((await program.call("post", "/v1/skills/{name}/execute", { path: { name: "greet" }, body: { params: { name: "Ann" } } })).status >= 400);
ok(await person.call("put", "/v1/skills/{name}/enabled", { path: { name: "greet" }, body: { enabled: true } }));
ok(await person.call("put", "/v1/skills/{name}/pinned", { path: { name: "greet" }, body: { pinned: true } }));
const pinned = ok(await person.call("get", "/v1/skills", { query: { limit: 200 } })).items.filter((s) => s.pinned);
assert.deepEqual(pinned.map((s) => s.name), ["greet"]);

// secrets
const granted = { path: { name: "greet", secret: "TOKEN" } };
const digest = ok(await person.call("get", "/v1/skills/{name}", { path: { name: "greet" } })).digest;
const grant = { path: { name: "greet" }, body: { name: "TOKEN", hosts: ["api.example.com"], methods: ["GET"], digest } };
assert.equal((await program.call("post", "/v1/skills/{name}/secrets", grant)).problem?.code, "PERMISSION_DENIED");
assert.equal((await program.call("get", "/v1/secrets")).status, 403);
ok(await person.call("post", "/v1/skills/{name}/secrets", grant), 204);
const secret = ok(await person.call("get", "/v1/secrets")).items.find((s) => s.name === "TOKEN");
assert.equal(secret?.kind, "no value");
assert.equal(secret?.grants[0]?.skill, "greet");
ok(await person.call("delete", "/v1/skills/{name}/secrets/{secret}", granted), 204);
assert.equal((await person.call("delete", "/v1/secrets/{name}", { path: { name: "TOKEN" } })).status, 404);

// profiles
const profile = { path: { name: "ci" } };
assert.equal((await program.call("get", "/v1/profiles")).status, 403);
ok(await person.call("post", "/v1/profiles", { body: { name: "ci", class: "safe" } }));
assert.equal(ok(await person.call("put", "/v1/profiles/{name}", { ...profile, body: { allow: ["greet"] } })).name, "ci");
assert(ok(await person.call("get", "/v1/profiles")).items.some((p) => p.name === "ci"));
assert(ok(await person.call("get", "/v1/profiles/{name}/skills", profile)).items.some((s) => s.skill === "greet" && s.state === "ready"));
ok(await person.call("delete", "/v1/profiles/{name}", profile), 204);

// the rest
assert(ok(await program.call("get", "/v1/plugins")).items.some((p) => p.name === "tools"));
assert(ok(await person.call("get", "/v1/doctor")).sections.length > 0);
const document = ok(await program.call("get", "/v1/openapi.json")) as any;
assert.equal((await stranger.call("get", "/v1/skills")).status, 401);

const left_out = [];
for (const [path, methods] of Object.entries(document.paths)) {
  for (const method of Object.keys(methods as object)) if (!used.has(`${method} ${path}`)) left_out.push(`${method} ${path}`);
}
assert.deepEqual(left_out, []);
console.log(`called ${used.size} operations`);
