import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Context, createClient } from "@slipway/kube";
import { CustomResourceDefinition, Lease, Namespace } from "@slipway/kube/core";
import { crdOf } from "../../kinds/crd.ts";
import { HostClaim } from "../../kinds/metal3/host-claim.ts";
import type { SharedLeases } from "../../netboot/dhcp/leases/mirror.ts";
import { someHosts } from "../../netboot/hosts/testing.ts";
import type { Netboot } from "../../netboot/service/service.ts";
import { netbootSettings } from "../../netboot/settings.ts";
import type { SystemPorts } from "../system.ts";
import { netboot } from "./system.ts";

const { discovery } = netbootSettings({ dhcp: { mode: "off" }, discovery: { namespace: "rack-hosts" } }, "test");

async function stage(hasReplicas: boolean, more: object = {}) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const happened: string[] = [];
  let leases: SharedLeases | undefined;
  const start = async (given?: SharedLeases): Promise<Netboot> => {
    leases = given;
    happened.push("started");
    return { hosts: someHosts(clock), close: async () => void happened.push("ended") } as unknown as Netboot;
  };
  const ports = { client, clock, log: quietLog, hasReplicas } as unknown as SystemPorts;
  const parts = netboot.parts(ports, { discovery, start, close: () => void happened.push("closed"), ...more });
  return { api, client, clock, happened, parts, leases: () => leases };
}

const rightsIn = (access: ReturnType<typeof netboot.parts>["access"]) =>
  access?.map(({ resource, verbs, namespace, names }) => [resource.kind, verbs.join(), namespace ?? names?.join()]);

test("with settings it serves while it leads, and gives up what was made ready once that has ended", async () => {
  const { api, client, clock, happened, parts, leases } = await stage(true);
  await parts.prepare?.(client, new AbortController().signal);
  await parts.prepare?.(client, new AbortController().signal);
  assert.equal((await client.get(Namespace, { name: "rack-hosts" })).metadata.name, "rack-hosts");
  const stop = parts.controllers.find(({ name }) => name === "netboot")!.listen!(() => {});
  await clock.run(1);
  stop();
  await parts.closed?.();
  assert.deepEqual(happened, ["started", "ended", "closed"]);
  assert.deepEqual([leases()?.namespace, leases()?.name], ["rack-hosts", "dhcp"]);
  assert.deepEqual(rightsIn(parts.access), [
    ["ConfigMap", "list,get,create,update", "rack-hosts"],
    ["Namespace", "get", "rack-hosts"],
    ["BareMetalHost", "list", undefined],
  ]);
  await api.close();
});

test("a replica that is alone copies its leases to nobody", async () => {
  const { api, clock, parts, leases, happened } = await stage(false);
  const stop = parts.controllers.find(({ name }) => name === "netboot")!.listen!(() => {});
  await clock.run(1);
  assert.deepEqual([happened, leases()], [["started"], undefined]);
  stop();
  await parts.closed?.();
  await api.close();
});

test("beside Metal3's own operator hosts are driven only where the settings say always, and claims are made where their kind is ours", async () => {
  const seen: [drive: string, theirs: boolean, host: string | undefined, claims: string][] = [];
  for (const theirs of [false, true])
    for (const drive of ["auto", "always", "never"] as const) {
      const openBmc = () => assert.fail("no host has a BMC");
      const { api, client, clock, parts } = await stage(false, { drive, openBmc, http: {} as never });
      const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "bmo", renewTime, leaseDurationSeconds: 15 };
      await client.create(Lease, { metadata: { name: "baremetal-operator", namespace: "default" }, spec });
      const body = crdOf([HostClaim]);
      const apply = { type: "apply", body, fieldManager: "kubectl" } as const;
      if (theirs) await client.patch(CustomResourceDefinition, body.metadata, apply);
      const ref = { name: "node-1", namespace: "default" };
      const paused = { "baremetalhost.metal3.io/paused": "" };
      const events: string[] = [];
      const context = (held?: object) =>
        ({
          ...{ client, clock, log: quietLog, cache: { get: () => held } },
          events: { normal: (_: unknown, reason: string) => events.push(reason) },
        }) as unknown as Context;
      const [hosts, claims] = ["host", "host-claim"].map((name) =>
        parts.controllers.find((each) => each.name === name),
      );
      await hosts?.reconcile(ref, context({ metadata: { ...ref, annotations: paused }, spec: { online: true } }));
      const outcome = await claims!.reconcile(ref, context());
      seen.push([drive, theirs, hosts && (events[0] ?? "driven"), "againAfterMs" in outcome ? "left" : "made"]);
      assert.deepEqual(rightsIn(parts.access)?.at(-1), ["Secret", "create,patch,delete", "rack-hosts"]);
      await api.close();
    }
  assert.deepEqual(seen, [
    ["auto", false, "DrivenElsewhere", "made"],
    ["always", false, "driven", "made"],
    ["never", false, undefined, "made"],
    ["auto", true, "DrivenElsewhere", "left"],
    ["always", true, "driven", "made"],
    ["never", true, undefined, "left"],
  ]);
});

test("whether hosts are driven is one of three words, auto unless said", () => {
  const drive = (value?: string) => (netboot.settings.parse({ drive: value }) as { drive: string }).drive;
  assert.deepEqual(["auto", "always", "never"].map(drive), ["auto", "always", "never"]);
  assert.equal(drive(), "auto");
  assert.throws(() => drive("sometimes"), /auto.*always.*never/s);
});

test("N1 it brings Metal3's kinds, which may be Metal3's own", () => {
  assert.equal(netboot.kindsMayBeForeign, true);
  assert.deepEqual(
    netboot.kinds.map(([kind]) => kind!.kind),
    ["BareMetalHost", "HardwareData", "HostFirmwareSettings", "HostClaim", "HostDeployPolicy"],
  );
});

test("it runs with a file or a service to start; without, it declares the same rights for the usual namespace and never runs", async () => {
  const { canRun } = netboot;
  const service = async () => assert.fail("it is only asked about");
  const answers = [{}, { file: "/etc/netboot.yaml" }, { start: service }].map((settings) => canRun?.(settings));
  assert.deepEqual(answers, [false, true, true]);

  for (const settings of [{}, { start: service }, { discovery }]) {
    const { controllers, access, prepare } = netboot.parts({} as SystemPorts, settings);
    assert.deepEqual(rightsIn(access), [
      ["ConfigMap", "list,get,create,update", "slipway-hosts"],
      ["Namespace", "get", "slipway-hosts"],
    ]);
    assert.deepEqual([controllers.map(({ name }) => name), prepare], [["discovery", "host", "host-claim"], undefined]);
  }
  const without = netboot.parts({} as SystemPorts, { drive: "never" }).controllers;
  assert.deepEqual(
    without.map(({ name }) => name),
    ["discovery", "host-claim"],
  );
});

test("a file of settings is read and its folder made before the service is started; without a file there is nothing to load", async (t) => {
  const top = mkdtempSync(join(tmpdir(), "slipway-system-"));
  t.after(() => rmSync(top, { recursive: true }));
  const [file, dir] = [join(top, "netboot.yaml"), join(top, "state")];
  writeFileSync(file, "dhcp: {mode: off}\ndiscovery: {namespace: rack-hosts}\n");
  const ports = { log: quietLog };
  assert.deepEqual(await netboot.load?.({ dir }, ports), {});
  const loaded = (await netboot.load?.({ file, dir }, ports)) as Record<string, unknown>;
  assert.deepEqual(Object.keys(loaded), ["discovery", "start", "openBmc", "http", "close"]);
  assert.equal((loaded.discovery as typeof discovery).namespace, "rack-hosts");
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  await (loaded.close as () => Promise<void>)();
});
