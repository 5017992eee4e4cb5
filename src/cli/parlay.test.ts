import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { NO_SSHD, startSshd } from "../plunder/ssh/testing.ts";
import { verb } from "./parlay.ts";
import { spoken } from "./testing.ts";

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-parlay-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("N31 --check reads a map and says what would be done", async (t) => {
  const { out, code } = await spoken(t, verb, "parlay", "examples/parlay/cluster.yaml", "--check");
  assert.equal(code, 0);
  assert.match(out, /^prepare: on 192\.168\.1\.123, .*, 3 at one time$/m);
  assert.match(out, /^ {2}join: command, ends after 600 s$/m);
});

test("what is wrong in a map is named by line and path, and no value is shown", async (t) => {
  const file = join(folder(t), "map.yaml");
  writeFileSync(
    file,
    `deployments:
- name: d
  hosts: [10.0.0.1]
  parallelSessions: 2
  actions:
  - name: a
    type: docker/image
    plugin: {image: hunter2}
  - name: b
    type: upload
    source: hunter2
    command: hunter2
  - name: c
    type: command
    command: hunter2
    fileMove: true
    nonsense: hunter2
`,
  );
  await assert.rejects(
    spoken(t, verb, "parlay", file, "--check"),
    /line 17, deployments\[0\]\.actions\[2\]\.nonsense: there is no such field/,
  );
  writeFileSync(file, readFileSync(file, "utf8").replace(/.*nonsense.*\n/, ""));
  await assert.rejects(spoken(t, verb, "parlay", file, "--check"), (error) => {
    assert.ok(isFault(error, "Invalid"));
    for (const words of [
      "line 4, deployments[0].parallelSessions: has no effect without parallel: true",
      "line 7, deployments[0].actions[0].type: is none of upload, download, command, pkg, key; plugins are not loaded",
      "line 12, deployments[0].actions[1].command: has no effect with upload",
      "deployments[0].actions[1].destination: upload needs it",
      "line 16, deployments[0].actions[2].fileMove: its meaning is not known",
    ])
      assert.ok(error.message.includes(words), `${words} is not in ${error.message}`);
    assert.ok(!error.message.includes("hunter2"));
    return true;
  });
});

const onSshd = NO_SSHD === undefined ? { timeout: 300_000 } : { skip: NO_SSHD };

test("N31 the command runs a map, keeps how far it is, and goes on with it", onSshd, async (t) => {
  const { port, user, identity, folder: dir } = await startSshd(t);
  const file = join(dir, "map.json");
  const flag = join(dir, "flag");
  const action = (name: string, command: string): object => ({ name, type: "command", command });
  const actions = [action("one", "echo one"), action("two", `test -e ${flag} && echo two`)];
  writeFileSync(file, JSON.stringify({ deployments: [{ name: "d", hosts: ["127.0.0.1"], actions }] }));
  const args = [file, "--user", user, "--identity", identity, "--port", String(port), "--dir", join(dir, "state")];
  await assert.rejects(spoken(t, verb, "parlay", ...args), /failed on 127\.0\.0\.1/);
  await assert.rejects(spoken(t, verb, "parlay", ...args, "--accept-new"), /failed on 127\.0\.0\.1/);
  writeFileSync(flag, "");
  const { out } = await spoken(t, verb, "parlay", ...args, "--resume");
  assert.match(out, /^127\.0\.0\.1 {2}d: two: two$/m);
  assert.doesNotMatch(out, /d: one/);
  const { out: forgotten } = await spoken(t, verb, "parlay", ...args, "--forget", "127.0.0.1", "--accept-new");
  assert.match(forgotten, /^127\.0\.0\.1: its recorded keys are forgotten$/m);
});
