/** `slipway sim` in this process: what it is set to is what its clients meet. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { verb as sim } from "./sim.ts";
import { going } from "./testing.ts";

interface Access {
  cloud: string;
  endpoint: string;
  token: string;
  project: string;
}

const ORDER = { plan: "c3.small.x86", metro: "sg", operating_system: "ubuntu_24_04", hostname: "node-1" };

/** A simulated cloud that was started so, and a client with its key. */
async function cloud(t: TestContext, name: string, ...args: string[]) {
  const { line, stop } = going(t, sim, "sim", name, "-o", "json", ...args);
  const access = JSON.parse(await line(/^\{/)) as Access;
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { "x-auth-token": access.token, authorization: access.token, "content-type": "application/json" };
    const url = `${access.endpoint}${path}`;
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json().catch(() => ({}))) as Record<string, unknown> };
  };
  const order = (more: object = {}) => ask("POST", `/projects/${access.project}/devices`, { ...ORDER, ...more });
  return { access, ask, order, stop };
}

test("its address, key and project are printed in columns, and it ends with 0 at Ctrl-C or SIGTERM", async (t) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const { line, stop } = going(t, sim, "sim", "equinix", "--token", "own-key", "--project", "p-1");
    await line(/^project/);
    const { out, code } = await stop(signal);
    assert.match(
      out,
      /^cloud {5}equinix\nendpoint {2}http:\/\/127\.0\.0\.1:\d+\/metal\/v1\ntoken {5}own-key\nproject {3}p-1\n$/,
    );
    assert.equal(code, 0);
  }
});

test("each cloud has a key and a project of its own where none are named, and takes those that are", async (t) => {
  for (const [name, path] of [
    ["equinix", "/projects"],
    ["latitude", "/projects"],
  ] as const) {
    const usual = await cloud(t, name);
    assert.equal((await usual.ask("GET", path)).status, 200, name);
    assert.ok(JSON.stringify((await usual.ask("GET", path)).body).includes(usual.access.project), name);
    await usual.stop();
    const own = await cloud(t, name, "--token", "own-key", "--project", "own-project");
    assert.deepEqual([own.access.cloud, own.access.token, own.access.project], [name, "own-key", "own-project"]);
    assert.ok(JSON.stringify((await own.ask("GET", path)).body).includes("own-project"), name);
    const stranger = await fetch(`${own.access.endpoint}${path}`, { headers: { "x-auth-token": "none" } });
    assert.equal(stranger.status, 401, name);
    await own.stop();
  }
});

test("a cloud has as many machines as are named for a place, and gives the reserved ones to who asks for them", async (t) => {
  const { order, ask, access, stop } = await cloud(
    ...([t, "equinix", "--capacity", "sg/c3.small.x86=1", "ny/c3.small.x86=0"] as const),
    ...["--reservations", "sg/c3.medium.x86=2", "da/c3.medium.x86=1"],
  );
  assert.deepEqual([(await order()).status, (await order()).status], [201, 422]);
  assert.equal((await order({ metro: "ny" })).status, 422);
  assert.equal((await order({ metro: "da" })).status, 201, "what is not named has plenty");
  const { body } = await ask("GET", `/projects/${access.project}/hardware-reservations`);
  assert.equal((body.hardware_reservations as unknown[]).length, 3);
  const reserved = { plan: "c3.medium.x86", hardware_reservation_id: "next-available" };
  const taken = [];
  for (let each = 0; each < 4; each++) taken.push((await order({ ...reserved, metro: "sg" })).status);
  assert.deepEqual(taken, [201, 201, 201, 422]);
  await stop();
});

test("beyond its rate limit a cloud answers 429", async (t) => {
  for (const [name, path] of [
    ["equinix", "/projects"],
    ["latitude", "/projects"],
  ] as const) {
    const { ask, stop } = await cloud(t, name, "--rate-limit", "2");
    const answers = [];
    for (let each = 0; each < 3; each++) answers.push((await ask("GET", path)).status);
    assert.deepEqual(answers, [200, 200, 429], name);
    await stop();
  }
});

test("lists miss a machine for as long as is asked for", async (t) => {
  for (const [stale, listed] of [
    ["3600000", 0],
    ["0", 1],
  ] as const) {
    const { order, ask, access, stop } = await cloud(t, "equinix", "--stale-lists", stale);
    assert.equal((await order()).status, 201);
    const { body } = await ask("GET", `/projects/${access.project}/devices`);
    assert.equal((body.devices as unknown[]).length, listed);
    await stop();
  }
});

test("its calls are counted by their names, without a key; with --log-requests each is a line without key or body", async (t) => {
  const lines: string[] = [];
  t.mock.method(console, "error", (line: string) => void lines.push(line));
  const { ask, access, order, stop } = await cloud(t, "equinix", "--log-requests");
  await order();
  await ask("GET", "/projects?page=1");
  const { origin } = new URL(access.endpoint);
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  assert.match(
    metrics,
    /^# HELP slipway_sim_requests_total .*\n# TYPE slipway_sim_requests_total counter\nslipway_sim_requests_total\{cloud="equinix",operation="\w+"\} 1\n/,
  );
  assert.match(metrics, /operation="createDevice"\} 1\n/);
  assert.equal((await fetch(`${origin}/metrics`, { method: "POST" })).status, 401, "only reading is for everybody");
  assert.deepEqual(
    lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z /, "")),
    [`POST /metal/v1/projects/${access.project}/devices 201`, "GET /metal/v1/projects?page=1 200", "POST /metrics 401"],
  );
  await stop();
  const quiet = await cloud(t, "equinix");
  await quiet.ask("GET", "/projects");
  assert.equal(lines.length, 3);
  await quiet.stop();
});
