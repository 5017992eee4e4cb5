/** The small world in which examples run: a folder, an API with the objects that they name, a netboot's socket. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type KubeObject, type Resource } from "@slipway/kube";
import { Event, Namespace, Secret } from "@slipway/kube/core";
import { follow } from "../../../src/cli/listing/follow.ts";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { installCrds } from "../../../src/kinds/install.ts";
import { TenantControlPlane } from "../../../src/kinds/kamaji/tenant-control-plane.ts";
import { shortestTenant } from "../../../src/kinds/kamaji/testing.ts";
import { BareMetalHost } from "../../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderMachine } from "../../../src/kinds/plunder/plunder-machine.ts";
import { laptopIdentity } from "../../../src/laptop/identity.ts";
import { openOrder } from "../../../src/netboot/hosts/host.ts";
import { someHosts } from "../../../src/netboot/hosts/testing.ts";
import { localApi } from "../../../src/netboot/local-api.ts";
import { HostLogs } from "../../../src/netboot/logs/host-logs.ts";
import { ALL_KINDS } from "../../../src/operator/kinds.ts";
import { createAuthority, issueServer } from "../../../src/pki/authority.ts";

const MAC = "52:54:00:12:34:56";

export interface World {
  folder: string;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-examples-"));
  const stopping = new AbortController();
  const closes: (() => unknown)[] = [() => rmSync(folder, { recursive: true }), () => stopping.abort()];
  await files(folder);
  closes.push(await netboot(folder));
  const api = await createApiServer({ clock, random, log });
  closes.push(() => api.close());
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const { url } = await api.listen({ tls: identity.serving });
  for (const name of ["kubeconfig", "site.yaml", ".slipway/kubeconfig"])
    writeFileSync(join(folder, name), identity.kubeconfig(url));
  const client = createClient(api.transport(), { clock, random, log });
  await objects(client, identity.kubeconfig(url));
  await event(client);
  await engine(client, stopping.signal);
  const metrics = createServer((_, answer) => answer.end("slipway_machines_bought_total 3\n"));
  await new Promise<void>((done) => metrics.listen(8090, "127.0.0.1", done));
  closes.push(() => metrics.close());
  return {
    folder,
    close: async () => {
      for (const close of closes.toReversed()) await close();
    },
  };
}

/** What examples read. */
async function files(folder: string): Promise<void> {
  for (const name of ["examples", "deploy", "docs"]) symlinkSync(resolve(name), join(folder, name));
  for (const name of [".config/fish/completions", "zsh", "tmp", ".slipway/netboot"])
    mkdirSync(join(folder, name), { recursive: true });
  const pool = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
  for (const name of ["pool.yaml", "cluster.yaml", "machine.yaml"]) writeFileSync(join(folder, name), pool);
  symlinkSync(resolve("examples/harvester"), join(folder, "my-manifests"));
  writeFileSync(join(folder, "debian.raw.zst"), "");
  writeFileSync(join(folder, "user-data.yaml"), "#cloud-config\n");
  writeFileSync(join(folder, "config.yaml"), "bootConfigs: []\n");
  writeFileSync(join(folder, "deployments.yaml"), "deployments: []\n");
  const authority = await createAuthority({ commonName: "examples", clock });
  const { certificatePem, keyPem } = await issueServer(authority, {
    commonName: "slipway.example",
    hosts: ["slipway.example"],
    clock,
  });
  writeFileSync(join(folder, "tls.crt"), certificatePem);
  writeFileSync(join(folder, "tls.key"), keyPem, { mode: 0o600 });
}

/** A netboot's own hosts behind its own API. One host was seen; whatever it is ordered is done at once. */
async function netboot(folder: string): Promise<() => Promise<void>> {
  const hosts = someHosts(clock);
  hosts.seen({ mac: MAC });
  hosts.approve(MAC);
  const logs = new HostLogs({ hosts });
  logs.append(MAC, "dhcp", "offered 10.20.0.100", clock.now());
  hosts.onChange((change) => {
    const given = change.is === "changed" ? openOrder(change.host) : undefined;
    if (change.is === "changed" && given !== undefined)
      queueMicrotask(() => hosts.result(change.host.name, given.is.id, { ok: true, message: "" }));
  });
  const order = async (host: string, wanted: object): Promise<string> =>
    hosts.give(host, ("image" in wanted ? { order: "reboot" } : wanted) as never).id;
  const { handler, stream } = localApi({ hosts, logs, order });
  const server = await serveHttp(handler, { socket: join(folder, ".slipway/netboot/netboot.sock"), stream });
  return async () => {
    logs.close();
    await server.close();
    hosts.close();
  };
}

/** What examples name. */
async function objects(client: Client, kubeconfig: string): Promise<void> {
  await installCrds(client, clock, new AbortController().signal, ALL_KINDS);
  for (const name of ["harvester-system", "slipway-hosts", "tenants"])
    await client.create(Namespace, { metadata: { name } });
  for (const name of ["capi-quickstart", "team-a"]) {
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name };
    await client.create(Cluster, { metadata: { namespace: "default", name }, spec: { infrastructureRef } } as never);
  }
  const config = Buffer.from(kubeconfig).toString("base64");
  const plunder = { ipAddress: "192.168.1.123", deploymentType: "preseed" };
  await client.create(PlunderMachine, {
    metadata: { namespace: "default", name: "controlplane" },
    spec: plunder,
  } as never);
  for (const namespace of ["default", "tenants"]) {
    const name = "team-a";
    const made = await client.create(TenantControlPlane, {
      metadata: { namespace, name },
      spec: shortestTenant,
    } as never);
    const status = { kubeconfig: { admin: { secretName: "team-a-admin-kubeconfig" } } };
    await client.updateStatus(TenantControlPlane, { ...made, status } as never);
    const data = { "admin.conf": config, "super-admin.conf": config };
    await client.create(Secret, { metadata: { namespace, name: "team-a-admin-kubeconfig" }, data });
  }
  const bmc = { address: "redfish://10.0.0.9/redfish/v1/Systems/1", credentialsName: "bmc" };
  for (const [namespace, name, bootMACAddress] of [
    ["default", "node-1", "52:54:00:00:00:01"],
    ["default", "rack-2-node-1", MAC],
    ["slipway-hosts", "rack-1-node-4", "52:54:00:00:00:04"],
    ["slipway-hosts", "rack-1-node-5", "52:54:00:00:00:06"],
    ["slipway-hosts", "host-52-54-00-12-34-56", "52:54:00:00:00:05"],
  ] as const)
    await client.create(BareMetalHost, {
      metadata: { namespace, name },
      spec: { online: true, bootMACAddress, bmc },
    } as never);
}

/** Something has happened to a host: a watch of events shows it at once. */
async function event(client: Client): Promise<void> {
  const involvedObject = { kind: BareMetalHost.kind, namespace: "default", name: "node-1" };
  const what = { type: "Normal", reason: "Registered", message: "it was seen", lastTimestamp: rfc3339(clock.now()) };
  await client.create(Event, {
    metadata: { namespace: "default", name: "node-1.1" },
    involvedObject,
    ...what,
  } as never);
}

/** Does what an engine does with each order of a host, as far as verbs look at it. */
async function engine(client: Client, signal: AbortSignal): Promise<void> {
  const settle = async ({ metadata: { namespace, name } }: KubeObject): Promise<void> => {
    const host = await client.get(BareMetalHost, { namespace: namespace!, name });
    const { annotations = {} } = host.metadata;
    const left = Object.keys(annotations).filter(
      (key) => /^(?:inspect|reboot|slipway\.dev)/.test(key) && key !== "slipway.dev/approved",
    );
    if (left.length > 0) {
      const body = { metadata: { annotations: Object.fromEntries(left.map((key) => [key, null])) } };
      await client.patch(BareMetalHost, { namespace: namespace!, name }, { type: "merge", body });
    }
    if (host.status?.poweredOn === host.spec.online && host.status.provisioning?.state === "available") return;
    const status = {
      ...{ operationalStatus: "OK", poweredOn: host.spec.online, provisioning: { state: "available", ID: "" } },
      ...{ errorCount: 0, errorMessage: "", hardwareProfile: "" },
    };
    await client.patch(
      BareMetalHost,
      { namespace: namespace!, name },
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
  };
  const settleSoon = (host: KubeObject): void => void settle(host).catch(() => {});
  const resources = [BareMetalHost as unknown as Resource];
  const [hosts] = await follow(resources, {}, { client, clock, random, log }, { changed: settleSoon, signal });
  await Promise.all([...hosts!.store.values()].map(settle));
}
