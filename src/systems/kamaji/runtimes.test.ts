import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock, Fault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant } from "../../kinds/kamaji/testing.ts";
import type { Home, Runtime, RuntimeName } from "../../tenants/runtime.ts";
import { measuredOf, TENANT_COUNT } from "./measures.ts";
import { Runtimes } from "./runtimes.ts";
import { neededFolder, startRuntime } from "./start-runtime.ts";

function rig(refusal?: Fault) {
  const happened: string[] = [];
  const report = new Map<RuntimeName, (id: string) => void>();
  let refused = refusal;
  const start = async (name: RuntimeName): Promise<Runtime> => {
    happened.push(`start ${name}`);
    if (refused !== undefined) throw refused;
    return {
      name,
      onChange: (listener: (id: string) => void) => {
        report.set(name, listener);
        return () => {};
      },
      remove: async (id: string) => void happened.push(`remove ${id} from ${name}`),
      close: async () => void happened.push(`close ${name}`),
      ...(name === "process" && {
        usage: async () => [{ tenant: "a/b", component: "c", residentBytes: 1, cpuSeconds: 2 }],
      }),
    } as unknown as Runtime;
  };
  const runtimes = new Runtimes({ wanted: "embedded", start });
  return { runtimes, happened, report, heal: () => (refused = undefined) };
}
const home = {} as Home;

test("a tenant runs where it runs already, else where its user asks, else where the operator says", () => {
  const { runtimes } = rig();
  assert.equal(runtimes.decide(undefined, undefined), "embedded");
  assert.equal(runtimes.decide(undefined, "process"), "process");
  assert.equal(runtimes.decide("process", undefined), "process");
  assert.equal(runtimes.decide("deployment", "deployment"), "deployment");
  assert.throws(() => runtimes.decide(undefined, "cloud"), {
    code: "Invalid",
    message: 'runtime: "cloud" is none of deployment, process, embedded',
    remedy: "correct the annotation slipway.dev/runtime",
  });
  assert.throws(() => runtimes.decide("cloud", undefined), { remedy: "correct the annotation slipway.dev/runs-on" });
  assert.throws(() => runtimes.decide("process", "embedded"), {
    code: "Invalid",
    message: 'runtime: the tenant runs on process, and can\'t move to "embedded"',
    remedy: "set the annotation slipway.dev/runtime back to process, or make another tenant",
  });
});

test("a runtime is opened once, when the first tenant needs it, and again where that failed", async () => {
  const { runtimes, happened, heal } = rig(new Fault("Unavailable", "runtime", "not yet"));
  await assert.rejects(runtimes.of("process"), { code: "Unavailable" });
  heal();
  const [first, same] = await Promise.all([runtimes.of("process"), runtimes.of("process")]);
  assert.equal(first, same);
  assert.deepEqual(happened, ["start process", "start process"]);
  await runtimes.of(undefined);
  assert.equal(happened.at(-1), "start embedded");
});

test("what any runtime reports of a plane reaches who listens, until that ends", async () => {
  const { runtimes, report } = rig();
  const heard: string[] = [];
  const end = runtimes.onChange((id) => heard.push(id));
  await runtimes.of("process");
  report.get("process")!("a");
  end();
  report.get("process")!("b");
  assert.deepEqual(heard, ["a"]);
});

test("a plane is removed from where it runs; one that never ran, or runs on nothing that is here, is gone", async () => {
  const { runtimes, happened } = rig();
  await runtimes.remove("a", undefined, home);
  await runtimes.remove("a", "cloud", home);
  assert.deepEqual(happened, []);
  await runtimes.remove("a", "process", home);
  assert.deepEqual(happened, ["start process", "remove a from process"]);
  for (const [code, goes] of [
    ["Unsupported", true],
    ["Invalid", true],
    ["Unavailable", false],
  ] as const) {
    const removal = rig(new Fault(code, "runtime", "no")).runtimes.remove("a", "process", home);
    if (goes) await removal;
    else await assert.rejects(removal, { code });
  }
});

test("programs' costs are those of all runtimes that have any, and all that are open are closed", async () => {
  const { runtimes, happened } = rig();
  assert.deepEqual(await runtimes.usage(), []);
  await runtimes.of("embedded");
  await runtimes.of("process");
  const usage = await runtimes.usage();
  const labels = { namespace: "a", tenant: "b", component: "c" };
  assert.deepEqual(measuredOf(usage), [
    { name: "slipway_tenant_memory_bytes", labels, value: 1 },
    { name: "slipway_tenant_cpu_seconds", labels, value: 2 },
  ]);
  await runtimes.close();
  assert.deepEqual(happened.slice(-2).sort(), ["close embedded", "close process"]);
  const counted = (status?: object) => TENANT_COUNT.valueOf({ ...tenant(), status } as unknown as TenantControlPlane);
  assert.equal(counted(), "Unseen");
  assert.equal(counted({ kubernetesResources: { version: { status: "Ready" } } }), "Ready");
});

test("each runtime is opened by its name; one that lacks what it needs says what", async () => {
  const none = async () => assert.fail("nothing is to be looked for");
  const surroundings = {
    ...{ clock, random, log, host: "127.0.0.1", assets: none, releaseOf: none, kine: none, tunnel: none },
    inCluster: false,
  };
  for (const [name, more] of [
    ["embedded", {}],
    ["process", { dir: "/nowhere" }],
    ["deployment", { inCluster: true }],
  ] as const) {
    const runtime = await startRuntime(name, { ...surroundings, ...more });
    assert.equal(runtime.name, name);
    await runtime.close();
  }
  await assert.rejects(startRuntime("process", surroundings), {
    code: "MissingInput",
    remedy: "name one with --tenants-dir",
  });
  await assert.rejects(startRuntime("deployment", surroundings), {
    code: "Unsupported",
    message: "runtime deployment: this operator watches no Deployments",
    remedy: /--tenants-runtime deployment/,
  });
  assert.equal(neededFolder("/x"), "/x");
});

test("embedded tenants are kept in the folder that is named: what is removed is gone from it", async (t) => {
  const none = async () => assert.fail("nothing is to be looked for");
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const runtime = await startRuntime("embedded", {
    ...{ clock, random, log, host: "127.0.0.1", assets: none, releaseOf: none, kine: none, tunnel: none },
    ...{ inCluster: false, dir },
  });
  for (const tenant of ["a", "b"]) mkdirSync(join(dir, tenant));
  await runtime.remove("a", home);
  assert.deepEqual(readdirSync(dir), ["b"]);
  await runtime.close();
});
