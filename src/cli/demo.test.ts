/** `slipway demo` in this process: what it prints, and the code that it ends with. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { EXAMPLE_KEYS } from "../laptop/metal.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../operator/defaults.ts";
import { KINDS } from "../operator/kinds.ts";
import { verb as demo } from "./demo.ts";
import { going } from "./testing.ts";

const POOL = KINDS.flat().find(({ kind }) => kind === "InstancePool")!;
const ACCOUNT = `
apiVersion: v1
kind: Secret
metadata: { name: ${DEFAULT_SECRET}, namespace: ${DEFAULT_NAMESPACE} }
stringData: { METAL_AUTH_TOKEN: ${EXAMPLE_KEYS.equinix.token}, PROJECT_ID: ${EXAMPLE_KEYS.equinix.project.id} }
---
apiVersion: ${POOL.group}/${POOL.version}
kind: InstancePool
metadata: { name: workers }
spec: { count: 1, plan: c3.small.x86, metro: SG, billingCycle: hourly }
`;

/** A demo of these manifests; what it draws and what it prints as errors is collected. */
function shown(t: TestContext, manifests: string, ...more: string[]) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-demo-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "a.yaml"), manifests);
  const errors: string[] = [];
  t.mock.method(console, "error", (line: string) => void errors.push(line));
  let drawn = "";
  const write = process.stdout.write.bind(process.stdout) as (...of: unknown[]) => boolean;
  t.mock.method(process.stdout, "write", (text: unknown, ...of: unknown[]) => {
    if (typeof text !== "string" || !/^ *\d+\.\ds {2}/.test(text)) return write(text, ...of);
    drawn += text;
    return true;
  });
  return { ...going(t, demo, "demo", "--examples", dir, ...more), dir, errors, drawn: () => drawn };
}

test("it shows how far the pool is, then all objects in tables, and ends with 0", async (t) => {
  const { line, stop, dir, drawn, errors } = shown(t, ACCOUNT, "--speed", "5000");
  assert.match(await line(/^Kubernetes API on/), new RegExp(`on https://127\\.0\\.0\\.1:\\d+, 2 objects from ${dir}$`));
  await line(/^ready after \d+\.\d s$/);
  const { out, code } = await stop();
  assert.equal(code, 0);
  assert.match(out, /\nNAME +STATUS +READY +REQUESTED\nworkers +ready +1 +1\n/, out);
  assert.match(drawn(), /InstancePool workers: 0 of 1 machines have joined/);
  assert.deepEqual(errors, []);
});

test("out of time it ends with 1, and says of each object what it waits for", async (t) => {
  const { stop, errors, line } = shown(t, ACCOUNT, "--speed", "1", "--timeout", "0.5");
  await assert.rejects(line(/^ready after/), /it ended without/);
  assert.equal((await stop()).code, 1);
  assert.equal(errors[0], "\nnot ready after 0.5 s. What is waited for:");
  assert.match(errors[1]!, /^ {2}InstancePool workers: \S+: .*/);
});

test("Ctrl-C ends it with 130, a request to end with 143; manifests that the API does not know fail it", async (t) => {
  for (const [signal, expected] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const { line, stop } = shown(t, ACCOUNT, "--speed", "1");
    await line(/^Kubernetes API on/);
    assert.equal((await stop(signal)).code, expected);
  }
  const { line } = shown(t, "apiVersion: nowhere.example/v1\nkind: Thing\nmetadata: { name: a }\n");
  await assert.rejects(line(/^ready after/), /nowhere\.example/);
});
