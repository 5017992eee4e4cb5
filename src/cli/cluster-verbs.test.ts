/** The verbs that ask a cluster, on an API of this process: what they print, and what they do to its objects. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { load } from "js-yaml";
import { installCrds } from "../kinds/install.ts";
import { TenantControlPlane } from "../kinds/kamaji/tenant-control-plane.ts";
import { tenant } from "../kinds/kamaji/testing.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { laptopIdentity } from "../laptop/identity.ts";
import { verb as describe } from "./describe.ts";
import { verb as inspect } from "./inspect.ts";
import { verb as kubeconfig } from "./kubeconfig.ts";
import { verb as power } from "./power.ts";
import { verb as release } from "./release.ts";
import { spoken } from "./testing.ts";
import type { Verb } from "./verb.ts";
import { verb as wipe } from "./wipe.ts";

const NODE = { namespace: "default", name: "node-1" };

/** A cluster with a host that is available; `slipway`: runs a verb on it. */
async function cluster(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-verbs-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const { url } = await api.listen({ tls: identity.serving });
  const client = createClient(api.transport(), { clock, random, log });
  await installCrds(client, clock, new AbortController().signal, [[BareMetalHost], [TenantControlPlane]]);
  const file = join(dir, "kubeconfig");
  const config = load(identity.kubeconfig(url)) as { contexts: { name: string; context: object }[] };
  config.contexts.push({ name: "b", context: { ...config.contexts[0]!.context, namespace: "tenants" } });
  writeFileSync(file, JSON.stringify(config));
  const slipway = (verb: Verb, ...args: string[]) => spoken(t, verb, ...args, "--kubeconfig", file);
  return { client, slipway };
}

async function host(client: Client, spec: Partial<BareMetalHost["spec"]> = {}): Promise<void> {
  const bmc = { address: "redfish://10.0.0.9/redfish/v1/Systems/1", credentialsName: "bmc" };
  const made = { metadata: NODE, spec: { online: true, bootMACAddress: "52:54:00:12:34:56", bmc, ...spec } };
  const stored = await client.create(BareMetalHost, made as unknown as BareMetalHost);
  const status = {
    ...{ operationalStatus: "OK", poweredOn: true, provisioning: { state: "available", ID: "" } },
    ...{ errorCount: 0, errorMessage: "", hardwareProfile: "" },
  };
  await client.updateStatus(BareMetalHost, { ...stored, status } as unknown as BareMetalHost);
}

test("power switches a host on or off and resets it, and returns once it is asked for with --no-wait", async (t) => {
  const { client, slipway } = await cluster(t);
  await host(client);
  assert.deepEqual(await slipway(power, "power", "on", "node-1"), { out: "done\n", code: 0 });
  assert.deepEqual(await slipway(power, "power", "off", "node-1", "--no-wait"), { out: "asked for\n", code: 0 });
  assert.equal((await client.get(BareMetalHost, NODE)).spec.online, false);
  await slipway(power, "power", "on", "default/node-1", "--no-wait");
  const modeAfter = async (...more: string[]) => {
    await slipway(power, "power", "reset", "52:54:00:12:34:56", "--no-wait", ...more);
    return (await client.get(BareMetalHost, NODE)).metadata.annotations?.["reboot.metal3.io"];
  };
  assert.equal(await modeAfter(), '{"mode":"soft","force":true}');
  assert.equal(await modeAfter("--hard"), '{"mode":"hard","force":true}');
});

test("inspect, wipe and release ask for --yes, and write what Metal3's users write", async (t) => {
  const { client, slipway } = await cluster(t);
  await host(client);
  const annotations = async () => Object.keys((await client.get(BareMetalHost, NODE)).metadata.annotations ?? {});
  for (const [verb, name] of [
    [inspect, "inspect"],
    [wipe, "wipe"],
    [release, "release"],
  ] as const)
    await assert.rejects(slipway(verb, name, "node-1"), /--yes/);
  await slipway(inspect, "inspect", "node-1", "--yes", "--no-wait");
  assert.deepEqual(await annotations(), ["inspect.metal3.io"]);
  await slipway(wipe, "wipe", "node-1", "--yes", "--no-wait");
  assert.deepEqual((await annotations()).sort(), ["inspect.metal3.io", "slipway.dev/wipe"]);
  assert.equal((await slipway(release, "release", "node-1", "--yes")).out, "done\n");
  const consumerRef = { apiVersion: "v1", kind: "Other", name: "o", namespace: "default" };
  await client.patch(BareMetalHost, NODE, { type: "merge", body: { spec: { consumerRef } } });
  await assert.rejects(
    slipway(release, "release", "node-1", "--yes"),
    (error) => isFault(error, "Conflict") && /it is used by Other o/.test(error.message),
  );
  assert.equal((await slipway(release, "release", "node-1", "--yes", "--force")).out, "done\n");
  assert.equal((await client.get(BareMetalHost, NODE)).spec.consumerRef, undefined);
});

test("a host that can't be waited for any longer is reported with what it waits for, and the order stays", async (t) => {
  const { client, slipway } = await cluster(t);
  await host(client);
  await assert.rejects(
    slipway(power, "power", "off", "node-1", "--timeout", "0.01"),
    (error) => isFault(error, "Timeout") && /not done within 10ms: available/.test(error.message),
  );
  assert.equal((await client.get(BareMetalHost, NODE)).spec.online, false);
});

test("without a kubeconfig a verb about hosts says that a netboot alone takes orders, too", async (t) => {
  const { KUBECONFIG } = process.env;
  delete process.env.KUBECONFIG;
  t.after(() => {
    if (KUBECONFIG !== undefined) process.env.KUBECONFIG = KUBECONFIG;
  });
  await assert.rejects(
    spoken(t, power, "power", "on", "node-1"),
    (error) => isFault(error, "MissingInput") && error.on === "node-1" && /take: slipway order/.test(error.advice),
  );
});

/** A tenant of a namespace, with a Secret that has an administrator's kubeconfig. */
async function withTenant(client: Client, namespace: string): Promise<void> {
  const { metadata, ...rest } = tenant();
  const stored = await client.create(TenantControlPlane, { ...rest, metadata: { name: metadata.name, namespace } });
  const status = { kubeconfig: { admin: { secretName: "a-admin" } } };
  await client.updateStatus(TenantControlPlane, { ...stored, status } as unknown as TenantControlPlane);
  const texts = ["admin.conf", "admin.svc", "super-admin.conf"].map((key) => [
    key,
    Buffer.from(`${key} of ${namespace}\n`).toString("base64"),
  ]);
  await client.create(Secret, { metadata: { name: "a-admin", namespace }, data: Object.fromEntries(texts) });
}

test("a tenant is described by its name, in the kubeconfig's namespace or the one that is given", async (t) => {
  const { client, slipway } = await cluster(t);
  await client.create(
    { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false },
    { metadata: { name: "tenants" } },
  );
  for (const namespace of ["default", "tenants"]) await withTenant(client, namespace);
  const described = async (...args: string[]) => (await slipway(describe, "describe", ...args)).out.split("\n");
  const [head, state] = await described("tcp/a");
  assert.equal(head, "TenantControlPlane default/a");
  assert.match(state!, /^ {2}State {7}not looked at yet/);
  for (const args of [["tcp/a", "-n", "tenants"], ["tcp/tenants/a"], ["tcp/a", "--context", "b"]])
    assert.equal((await described(...args))[0], "TenantControlPlane tenants/a", args.join(" "));
  await assert.rejects(slipway(describe, "describe", "tcp/none"), (error) => isFault(error, "NotFound"));
});

test("the kubeconfig of a tenant is printed as it stands in its Secret: of which administrator, and for where", async (t) => {
  const { client, slipway } = await cluster(t);
  await withTenant(client, "default");
  let out = "";
  const print = async (...args: string[]): Promise<string> => {
    out = "";
    const write = t.mock.method(process.stdout, "write", (text: string) => {
      out += text;
      return true;
    });
    await slipway(kubeconfig, "kubeconfig", "a", ...args).finally(() => write.mock.restore());
    return out;
  };
  assert.equal(await print(), "admin.conf of default\n");
  assert.equal(await print("--in-cluster"), "admin.svc of default\n");
  assert.equal(await print("--super"), "super-admin.conf of default\n");
  await assert.rejects(print("--context", "b"), (error) => isFault(error, "NotFound"));
});

/** Connections of this process, the server's ends included. */
const connections = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

test("each of these verbs goes by the context that is named, and leaves no connection open", async (t) => {
  const { client, slipway } = await cluster(t);
  await host(client);
  await withTenant(client, "default");
  t.mock.method(process.stdout, "write", () => true);
  for (const [verb, ...args] of [
    [power, "power", "on", "node-1"],
    [describe, "describe", "tcp/a"],
    [kubeconfig, "kubeconfig", "a"],
  ] as const) {
    const before = connections();
    await slipway(verb, ...args);
    for (const until = clock.monotonic() + 5_000; connections() > before && clock.monotonic() < until; )
      await clock.sleep(5);
    assert.equal(connections(), before, args.join(" "));
    await assert.rejects(
      slipway(verb, ...args, "--context", "none"),
      (error) => isFault(error) && /none/.test(error.message),
      args[0],
    );
  }
});
