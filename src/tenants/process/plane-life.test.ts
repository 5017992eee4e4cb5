/** The life of a plane's programs, with stand-ins in the place of Kubernetes' own. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock as clock, deadline } from "@slipway/base";
import type { Observed, Plane } from "../plane.ts";
import { testPlane } from "../testing.ts";
import { ProcessRuntime } from "./process-runtime.ts";
import { standIns } from "./testing.ts";

async function rig(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-life-"));
  const programs = standIns(dir);
  const pauses: number[] = [];
  const counting = {
    ...{ now: clock.now.bind(clock), monotonic: clock.monotonic.bind(clock), sleep: clock.sleep.bind(clock) },
    after: (ms: number, then: () => void) => {
      pauses.push(ms);
      return clock.after(ms, then);
    },
  } as Clock;
  const runtime = new ProcessRuntime({
    ...{ clock: counting, host: "127.0.0.1", dir: join(dir, "planes"), assets: async () => dir },
    ...{ kine: async () => programs.path("kine"), tunnel: async () => programs.path("konnectivity-server") },
    releaseOf: async (minor) => `${minor}.9`,
  });
  t.after(async () => {
    await runtime.close();
    rmSync(dir, { recursive: true });
  });
  const { plane } = await testPlane("a", await runtime.place("a", { port: 0, exact: false }));
  const store = { endpoints: ["https://127.0.0.1:1"], prefix: "/a" };
  /** What is seen of the plane once it is like that; each change that the runtime reports is looked at. */
  const seen = async (wanted: Plane, isSo: (now: Observed) => boolean): Promise<Observed> => {
    const { signal, done } = deadline(clock, 20_000);
    try {
      for (;;) {
        const changed = Promise.withResolvers<void>();
        const end = runtime.onChange((id) => id === wanted.id && changed.resolve());
        signal.addEventListener("abort", () => changed.resolve(), { once: true });
        const now = await runtime.ensure(wanted);
        if (!isSo(now)) await changed.promise;
        end();
        if (isSo(now)) return now;
        if (signal.aborted) throw new Error(`not in time: ${JSON.stringify(now)}`);
      }
    } finally {
      done();
    }
  };
  return { pauses, runtime, programs, plane: { ...plane, store } as Plane, seen, dir };
}

const isReady = ({ readyReplicas }: Observed): boolean => readyReplicas === 1;
const says =
  (text: RegExp) =>
  ({ components }: Observed): boolean =>
    components.some(({ message = "" }) => text.test(message));

test("B16 a plane is ready when each of its programs answers, with the version that its API server reports", async (t) => {
  const { runtime, programs, plane, seen, pauses } = await rig(t);
  programs.set("kube-apiserver", "version", "v1.36.3-rc.1");
  const { version, components } = await seen(plane, isReady);
  assert.equal(version, "v1.36.3-rc.1");
  assert.deepEqual(components, [
    { component: "kube-apiserver", ready: true, version: "v1.36.3-rc.1" },
    { component: "kube-controller-manager", ready: true, version: "v1.36.3" },
    { component: "kube-scheduler", ready: true, version: "v1.36.3" },
  ]);
  const { args } = programs.started("kube-apiserver");
  for (const flag of ["--bind-address=127.0.0.1", `--secure-port=${plane.port}`, "--profiling=false"])
    assert.ok(args.includes(flag), flag);
  assert.equal(runtime.pids("a").length, 3);
  const usage = await runtime.usage();
  assert.deepEqual(
    usage.map(({ tenant, component }) => [tenant, component]),
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => ["tenants/a", name]),
  );
  assert.ok(usage.every(({ residentBytes }) => residentBytes > 1_000_000));
  assert.equal(await runtime.releaseOf("v1.35"), "v1.35.9");
  assert.equal(
    pauses.find((ms) => ms !== 5_000),
    250,
    "it is looked at often until it is ready",
  );
  const { signal, done } = deadline(clock, 20_000);
  while (!pauses.includes(10_000)) {
    assert.ok(!signal.aborted, "it is looked at seldom from then on");
    await clock.sleep(10);
  }
  done();
  await runtime.close();
  assert.deepEqual([runtime.pids("a"), await runtime.usage()], [[], []]);
});

test("a program that answers with an error makes the plane not ready, and is named with its answer", async (t) => {
  const { programs, plane, seen } = await rig(t);
  programs.set("kube-scheduler", "status", "500");
  programs.set("kube-apiserver", "status", "503");
  const told = ({ components }: Observed): string =>
    components.flatMap(({ ready, component, message }) => (ready ? [] : `${component}: ${message}`)).join("; ");
  const wanted = "kube-apiserver: /readyz answered 503; kube-scheduler: /healthz answered 500";
  const { readyReplicas, version } = await seen(plane, (now) => told(now) === wanted);
  assert.deepEqual([readyReplicas, version], [0, undefined]);
  programs.set("kube-scheduler", "status", "200");
  programs.set("kube-apiserver", "status", "200");
  await seen(plane, isReady);
});

test("a program that ends by itself is named with its exit code and last words", async (t) => {
  const { programs, plane, seen } = await rig(t);
  programs.set("kube-controller-manager", "end", "no such flag: --mine");
  const { components } = await seen(plane, says(/exit code/));
  assert.equal(
    components.find(({ component }) => component === "kube-controller-manager")?.message,
    "it ended with exit code 3: no such flag: --mine",
  );
});

test("B22 a port that somebody else took meanwhile is let go of: the plane gets another one", async (t) => {
  const { runtime, plane, seen } = await rig(t);
  const foreign = createServer().listen(plane.port, "127.0.0.1");
  await once(foreign, "listening");
  t.after(() => foreign.close());
  await seen(plane, says(/address already in use/));
  const place = await runtime.place("a", { port: plane.port, exact: false });
  assert.notEqual(place.port, plane.port);
});

test("kube-apiserver starts when kine has answered once, by its socket; the password is in kine's environment alone", async (t) => {
  const { runtime, programs, plane, seen, dir } = await rig(t);
  const endpoint = "postgres://u:secret@db/u";
  const kine = { endpoint, secret: { name: "s", key: "k" }, extraArgs: ["--debug"] };
  const behind: Plane = { ...plane, store: { endpoints: [], prefix: "/registry", kine } };
  programs.set("kine", "status", "1");
  const { components } = await seen(behind, says(/no database/));
  assert.deepEqual(
    components.map(({ component, ready, message }) => [component, ready, message?.replace(/^.*: /, "")]),
    [
      ["kine", false, "no database"],
      ...["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => [
        name,
        false,
        "it waits for kine",
      ]),
    ],
  );
  assert.equal(runtime.pids("a").length, 1);
  programs.set("kine", "status", "0");
  assert.deepEqual((await seen(behind, isReady)).components[0], { component: "kine", ready: true });
  const socket = `unix://${join(dir, "planes", "a", "kine.sock")}`;
  assert.ok(programs.started("kube-apiserver").args.includes(`--etcd-servers=${socket}`));
  const started = programs.started("kine");
  assert.equal(started.endpoint, endpoint);
  assert.ok(started.args.includes(`--listen-address=${socket}`) && started.args.includes("--debug"));
  assert.ok(!JSON.stringify(started.args).includes("secret"));

  const moved = await seen(plane, isReady);
  assert.deepEqual(
    moved.components.map(({ component }) => component),
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler"],
  );
  assert.equal(runtime.pids("a").length, 3);
});

test("konnectivity-server runs beside the API server, which goes through its socket, and ends when it is not wanted", async (t) => {
  const { runtime, programs, plane, seen, dir } = await rig(t);
  const tunnelled: Plane = { ...plane, konnectivity: { port: 8132, kubeconfig: "KUBECONFIG", extraArgs: ["--v=3"] } };
  programs.set("konnectivity-server", "status", "503");
  await seen(tunnelled, says(/^\/healthz answered 503/));
  programs.set("konnectivity-server", "status", "200");
  const { components } = await seen(tunnelled, isReady);
  assert.deepEqual(components.at(-1), { component: "konnectivity-server", ready: true });
  const { args } = programs.started("konnectivity-server");
  const folder = join(dir, "planes", "a");
  for (const flag of [
    `--uds-name=${join(folder, "tunnel.sock")}`,
    `--kubeconfig=${join(folder, "pki", "konnectivity-server.conf")}`,
    ...["--agent-port=8132", "--agent-bind-address=127.0.0.1", "--health-bind-address=127.0.0.1"],
    ...["--server-count=1", "--v=3"],
  ])
    assert.ok(args.includes(flag), flag);
  const ports = args.filter((flag) => /^--(admin|health)-port=/.test(flag)).map((flag) => flag.split("=")[1]);
  assert.equal(new Set(ports).size, 2);
  const egress = `--egress-selector-config-file=${join(folder, "pki", "egress-selector-configuration.yaml")}`;
  assert.ok(programs.started("kube-apiserver").args.includes(egress));
  // It is ready as it was until the API server starts anew.
  const startedAnew = (): boolean => !programs.started("kube-apiserver").args.includes(egress);
  await seen(plane, (now) => isReady(now) && startedAnew());
  assert.equal(runtime.pids("a").length, 3);
});

test("B25 what the user asked for and has no effect is reported with the plane", async (t) => {
  const { runtime, plane } = await rig(t);
  const extraArgs = { ...plane.extraArgs, scheduler: ["--secure-port=1"] };
  assert.deepEqual((await runtime.ensure({ ...plane, replicas: 0, extraArgs })).ignored, [
    "spec.controlPlane.deployment.extraArgs.scheduler: --secure-port is managed",
  ]);
});
