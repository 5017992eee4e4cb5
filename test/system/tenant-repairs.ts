/** What users get wrong, as they see it on every runtime: each is refused or a condition that says what to do, and a repair heals without a restart. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline, isFault } from "@slipway/base";
import { Event, Node, Secret, Service } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { createAuthority, issueClient } from "../../src/pki/authority.ts";
import type { Run } from "./tenant-promises.ts";
import { NAMESPACE, OWN_LOOPBACK, stateOf, type TenantsWorld, tenantsWorld } from "./tenants-world.ts";

type Repaired = (t: TestContext, run: Run) => Promise<void>;
const repairs: [name: string, holds: Repaired, only: (run: Run) => boolean][] = [];
/** `only`: the runtimes on which it can happen. */
const repair = (name: string, holds: Repaired, only: (run: Run) => boolean = () => true): void =>
  void repairs.push([name, holds, only]);

/** Declares all tests, on one runtime. `skip`: why it can't be had here. */
export function everyRepair(run: Run, skip: string | false = false): void {
  for (const [name, holds, only] of repairs)
    if (only(run)) test(`${name} (${run.name})`, { skip }, async (t) => await holds(t, run));
}

const REF = { namespace: NAMESPACE, name: "a" };
/** The embedded API keeps objects by itself. */
const hasStore = ({ name }: Run): boolean => name !== "embedded";
const isProcess = ({ name }: Run): boolean => name === "process";
const isReady = (one: TenantControlPlane): boolean => stateOf(one) === "Ready" && one.status?.waitingFor === undefined;
const stalledBy = ({ status }: TenantControlPlane): string =>
  status?.conditions?.find(({ type }) => type === "Stalled")?.message ?? "";

/** Resolves with what stalls the tenant, once that is so. */
async function stalls({ until }: TenantsWorld, what: RegExp): Promise<void> {
  const tenant = await until("a", (one) => what.test(stalledBy(one)));
  assert.equal(stateOf(tenant), "Provisioning");
  assert.equal(tenant.status!.waitingFor, stalledBy(tenant), "status.waitingFor says the same");
}

/** A tenant that is gone frees its name. */
async function removed({ client }: TenantsWorld): Promise<void> {
  await client.delete(TenantControlPlane, REF);
  const { signal, done } = deadline(clock, 60_000);
  while ((await client.find(TenantControlPlane, REF)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(25);
  }
  done();
}

const kubernetes = (version: string) => ({ kubernetes: { version, kubelet: { cgroupfs: "systemd" } } });

repair("a version that can't be run says how to have it, and one that can heals the tenant", async (t, run) => {
  const world = await tenantsWorld(t, run.runs);
  await world.apply("a", kubernetes("v1.26.15"));
  await stalls(world, /v1\.26\.15.*1\.27/);
  if (run.name === "process") {
    await world.apply("a", kubernetes("v1.33.99"));
    await stalls(
      world,
      /no such program in .*1\.33\.99; put the programs of v1\.33\.99 into .*make kube-assets VERSIONS/,
    );
  }
  await world.apply("a", kubernetes(run.version));
  await world.until("a", isReady);
});

repair(
  "prefixes that overlap are refused when they are written; two of one family stall the tenant",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    const network = (more: object) => ({ networkProfile: { port: 37_443, ...more } });
    const overlap = world.apply("a", network({ serviceCidr: "10.0.0.0/8", podCidr: "10.1.0.0/16" }));
    await assert.rejects(
      overlap,
      (error) =>
        isFault(error, "Invalid") && /CIDRs overlap: choose prefixes that share no address/.test(error.message),
    );
    await world.apply("a", network({ podCidrs: ["10.244.0.0/16", "10.245.0.0/16"] }));
    await stalls(world, /podCidrs\[1\]: 10\.245\.0\.0\/16 is IPv4 as .* is: keep one of them, or add one of IPv6/);
    await world.apply("a", network({ podCidrs: ["10.244.0.0/16"] }));
    await world.until("a", isReady);
  },
);

/** Takes a port that runtimes would look for; a tenant of type NodePort may have no other. */
async function foreign(t: TestContext, from: number): Promise<{ server: Server; port: number }> {
  for (let port = from; ; port++) {
    const server = createServer();
    const listening = await once(server.listen(port, OWN_LOOPBACK), "listening").then(
      () => true,
      () => false,
    );
    if (!listening) continue;
    t.after(() => server.close());
    return { server, port };
  }
}

const nodePort = (port: number, run: Run) => ({
  controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "NodePort" } },
  networkProfile: { port, ...(run.name === "deployment" && { address: OWN_LOOPBACK }) },
});

/** A tenant that asks for the port of another server, and what stalls it. */
async function withTakenPort(t: TestContext, run: Run) {
  const world = await tenantsWorld(t, run.runs);
  const { server, port } = await foreign(t, 31_443);
  const isPods = run.name === "deployment";
  if (isPods) {
    const spec = { type: "NodePort" as const, ports: [{ name: "a", port, nodePort: port }] };
    await world.client.create(Service, { metadata: { namespace: NAMESPACE, name: "other" }, spec });
  }
  await world.apply("a", nodePort(port, run));
  await stalls(
    world,
    isPods
      ? /nodePort: Invalid value: 31\d\d\d: provided port is already allocated/
      : /port 31\d\d\d of 127\.\d+\.\d+\.\d+ is taken; choose another port in spec\.networkProfile\.port/,
  );
  const isAt = (at: number) => (one: TenantControlPlane) =>
    one.status?.controlPlaneEndpoint === `${OWN_LOOPBACK}:${at}` && stalledBy(one) === "";
  return { world, server, port, isAt };
}

repair("a port that another has is named, and another one that is asked for heals the tenant", async (t, run) => {
  const { world, port, isAt } = await withTakenPort(t, run);
  const { server, port: free } = await foreign(t, port + 1);
  server.close();
  await once(server, "close");
  await world.apply("a", nodePort(free, run));
  await world.until("a", isAt(free));
});

repair(
  "a port that another gives up is the tenant's within half a minute",
  async (t, run) => {
    const { world, server, port, isAt } = await withTakenPort(t, run);
    server.close();
    await world.until("a", isAt(port));
  },
  ({ name }) => name === "embedded",
);

repair(
  "a tenant of type NodePort follows its port, and so do its kubeconfigs",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    for (const from of [31_500, 31_501, 31_502]) {
      const { server, port } = await foreign(t, from);
      server.close();
      await once(server, "close");
      await world.apply("a", nodePort(port, run));
      await world.until("a", (one) => one.status?.controlPlaneEndpoint === `${OWN_LOOPBACK}:${port}` && isReady(one));
      await world.inTenant("a", async (inside) => assert.deepEqual((await inside.list(Node)).items, []));
    }
  },
  ({ name }) => name !== "deployment",
);

repair(
  "B18 a tenant whose DataStore is missing says so, and is healed when it is there",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    await world.apply("a", { dataStore: "later" });
    await stalls(world, /DataStore\/later: there is none of this name; create it, or name another in spec.dataStore/);
    const { spec } = await world.client.get(DataStore, { name: "default" });
    await world.client.create(DataStore, { metadata: { name: "later" }, spec });
    await world.until("a", isReady);
  },
  hasStore,
);

const content = (text: string) => ({ content: Buffer.from(text).toString("base64") });

repair(
  "credentials of a DataStore that its database refuses are named, and right ones heal its tenants",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    const { spec } = await world.client.get(DataStore, { name: "default" });
    const stranger = await createAuthority({ commonName: "stranger", clock });
    const root = await issueClient(stranger, { commonName: "root", clock, organizations: [] });
    const clientCertificate = { certificate: content(root.certificatePem), privateKey: content(root.keyPem) };
    const wrong = { ...spec, tlsConfig: { ...spec.tlsConfig!, clientCertificate } };
    await world.client.create(DataStore, { metadata: { name: "db" }, spec: wrong });
    await world.apply("a", { dataStore: "db" });
    await stalls(world, /clientCertificate/);
    const body = { spec: { tlsConfig: spec.tlsConfig } };
    await world.client.patch(DataStore, { name: "db" }, { type: "merge", body });
    await world.until("a", isReady);
  },
  isProcess,
);

/** One that ended a year ago. */
async function ended(commonName: string) {
  const past = clock.now() - 2 * 365 * 24 * 3_600_000;
  return await createAuthority({ commonName, clock: { ...clock, now: () => past }, validDays: 365 });
}

repair(
  "a DataStore whose authority has ended is named, and a new one heals its tenants",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    const { spec } = await world.client.get(DataStore, { name: "default" });
    const { certificatePem, keyPem } = await ended("etcd");
    const certificateAuthority = { certificate: content(certificatePem), privateKey: content(keyPem) };
    const old = { ...spec, tlsConfig: { ...spec.tlsConfig!, certificateAuthority } };
    await world.client.create(DataStore, { metadata: { name: "db" }, spec: old });
    await world.apply("a", { dataStore: "db" });
    await stalls(
      world,
      /certificateAuthority of DataStore\/db: it ends within a day, or has ended; give the database and the DataStore a new authority/,
    );
    const body = { spec: { tlsConfig: spec.tlsConfig } };
    await world.client.patch(DataStore, { name: "db" }, { type: "merge", body });
    await world.until("a", isReady);
  },
  hasStore,
);

repair(
  "a Secret that is not the tenant's is left alone and named; an authority in it that has ended is made anew once it is taken over",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    const { certificatePem, keyPem } = await ended("kubernetes");
    const { content: certificate } = content(certificatePem);
    const { content: key } = content(keyPem);
    const data = { "ca.crt": certificate, "ca.key": key, "tls.crt": certificate, "tls.key": key };
    const metadata = { namespace: NAMESPACE, name: "a-ca" };
    await world.client.create(Secret, { metadata, data });
    await world.apply("a");
    await stalls(
      world,
      /Secret\/a-ca: it is there, and is not this tenant's; delete it, or have the tenant take it over/,
    );
    const labels = { "kamaji.clastix.io/project": "kamaji", "kamaji.clastix.io/name": "a" };
    await world.client.patch(Secret, metadata, { type: "merge", body: { metadata: { labels } } });
    await world.until("a", isReady);
    await world.inTenant("a", async (inside) => assert.deepEqual((await inside.list(Node)).items, []));
    const { signal, done } = deadline(clock, 30_000);
    const said = async () =>
      (await world.client.list(Event, { namespace: NAMESPACE })).items.some(
        ({ reason, message }) => reason === "CertificateRenewed" && message === "ca: expiring",
      );
    while (!(await said())) {
      assert.ok(!signal.aborted, "no event says that the authority was renewed");
      await clock.sleep(25);
    }
    done();
  },
);

repair(
  "B28 a hostile name of a place is refused with what to do, and a tenant without it heals",
  async (t, run) => {
    const world = await tenantsWorld(t, run.runs);
    for (const [field, name] of [
      ["dataStoreSchema", "../registry"],
      ["dataStoreUsername", "a'; DROP ROLE root; --"],
    ] as const) {
      await world.apply("a", { [field]: name });
      await stalls(
        world,
        new RegExp(`${field} .*for etcd it may have letters, digits.*make the tenant anew with another ${field}`),
      );
      await removed(world);
    }
    await world.apply("a");
    await world.until("a", isReady);
  },
  hasStore,
);

repair("hostile names for the certificate are refused one by one, and right ones heal", async (t, run) => {
  const world = await tenantsWorld(t, run.runs);
  const network = (certSANs: string[]) => ({ networkProfile: { port: 37_543, certSANs } });
  await world.apply("a", network(["api.example.com:6443", "a b", "x\nDNS:evil.example", "ok.example"]));
  await stalls(
    world,
    /certSANs\[0\].*write api\.example\.com.*certSANs\[1\]: "a b" is no DNS name.*certSANs\[2\].*correct the specification/s,
  );
  await world.apply("a", network(["api.example.com", "192.0.2.7"]));
  await world.until("a", isReady);
});

repair("a Secret of the tenant's that is deleted or spoiled is made anew", async (t, run) => {
  const world = await tenantsWorld(t, run.runs);
  await world.apply("a");
  await world.until("a", isReady);
  const names = [
    "a-api-server-certificate",
    ...(hasStore(run) ? ["a-datastore-config", "a-datastore-certificate"] : []),
  ];
  for (const name of names) {
    const ref = { namespace: NAMESPACE, name };
    const before = await world.client.get(Secret, ref);
    const keys = Object.keys(before.data!).sort();
    const spoiled = Object.fromEntries(keys.map((key) => [key, content("spoiled").content]));
    // A password that another client wrote becomes the user's.
    const isSpoiled = ([key, text]: [string, string]): boolean => key !== "DB_PASSWORD" && text === spoiled[key];
    const isWhole = async (): Promise<boolean> => {
      const entries = Object.entries((await world.client.find(Secret, ref))?.data ?? {});
      return entries.length === keys.length && !entries.some(isSpoiled);
    };
    for (const spoil of [
      () => world.client.patch(Secret, ref, { type: "merge", body: { data: spoiled } }),
      () => world.client.delete(Secret, ref),
    ]) {
      await spoil();
      const { signal, done } = deadline(clock, 60_000);
      while (!(await isWhole())) {
        assert.ok(!signal.aborted, `${name} is not made anew`);
        await clock.sleep(25);
      }
      done();
    }
  }
  await world.until("a", isReady);
  await world.inTenant("a", async (inside) => assert.deepEqual((await inside.list(Node)).items, []));
});
