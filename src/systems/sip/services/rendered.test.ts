/** What holds for the Pods of every service, whatever is deployed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { auth } from "./auth/auth.ts";
import { controlPlaneBalancer, workerBalancer } from "./balance/load-balancer.ts";
import type { Entry, ServiceKind } from "./entry.ts";
import type { ServiceHost } from "./host.ts";
import { jumpHost } from "./jump/jump-host.ts";
import type { Rendered } from "./rendered.ts";

const cluster = { metadata: { name: "c", namespace: "n", uid: "u" } } as unknown as SIPCluster;
const entry = (kind: ServiceKind): Entry => ({ cluster, kind, at: 0 });
const host = (name: string, role: string, address: string): ServiceHost => ({
  ...{ name, namespace: "n", role, unique: name, addresses: { oam: address } },
  bmc: { address: "redfish+https://192.0.2.9/redfish/v1/Systems/1", username: "u", password: "p", isTrusted: true },
});
const hosts = [host("a", "ControlPlane", "10.0.0.1"), host("b", "Worker", "10.0.0.2"), host("c", "Other", "10.0.0.3")];
const common = { image: "i", nodeInterfaceId: "oam" };

const rendered: Record<ServiceKind, Rendered> = {
  loadBalancerControlPlane: controlPlaneBalancer(
    entry("loadBalancerControlPlane"),
    { ...common, nodePort: 30_000 } as never,
    hosts,
  ),
  loadBalancerWorker: workerBalancer(
    entry("loadBalancerWorker"),
    { ...common, nodePortRange: { start: 30_001, end: 30_003 } } as never,
    hosts,
  ),
  jumpHost: jumpHost(
    entry("jumpHost"),
    { ...common, nodePort: 30_010, sshAuthorizedKeys: [], nodeSSHPrivateKeys: "keys" } as never,
    { hosts, keyNames: ["id"], keysVersion: "1" },
  ),
  auth: auth(entry("auth"), { ...common, nodePort: 30_020 } as never, {
    ...{ host: "192.0.2.1", nodePort: 30_020, config: {}, apiServer: undefined },
    keys: { "tls.crt": "c", "tls.key": "k", "ca.crt": "a" } as never,
  }),
};

interface Probe {
  httpGet?: { port: number };
  tcpSocket?: { port: number };
}
interface Container {
  ports: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  readinessProbe: Probe;
  livenessProbe: Probe;
}
interface Volume {
  name: string;
  secret?: { secretName: string; optional?: boolean; items?: { key: string }[] };
  configMap?: { name: string; items?: { key: string }[] };
}
const podOf = ({ deployment }: Rendered) =>
  deployment.spec!.template!.spec as unknown as { containers: [Container]; volumes: Volume[] };

for (const [kind, all] of Object.entries(rendered)) {
  const { containers, volumes } = podOf(all);
  const [container] = containers;

  test(`${kind}: each volume is mounted, read-only, and each mount has a volume`, () => {
    const mounted = container.volumeMounts.map(({ name }) => name);
    assert.deepEqual([...new Set(mounted)].sort(), volumes.map(({ name }) => name).sort());
    assert.deepEqual(
      container.volumeMounts.filter(({ readOnly }) => readOnly !== true),
      [],
    );
  });

  test(`${kind}: each volume is of an object that is made beside, with the keys that it names`, () => {
    const data = new Map(
      [...all.secrets, ...all.configMaps].map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]),
    );
    // The user's own Secret, and that of the host key, which is made once and kept.
    const others = new Set(["keys", "jumphostkey-c"]);
    // A Pod starts without one that is optional.
    for (const { name, secret, configMap } of volumes.filter((volume) => volume.secret?.optional !== true)) {
      const of = secret?.secretName ?? configMap!.name;
      const keys = data.get(of);
      assert.ok(keys !== undefined || others.has(of), `volume ${name} is of ${of}, which nobody makes`);
      for (const { key } of (secret ?? configMap)!.items ?? []) assert.ok(keys!.includes(key), `${of} has no ${key}`);
    }
  });

  test(`${kind}: the Service leads to the container's ports, and selects its Pods`, () => {
    const { ports, selector } = all.service.spec! as {
      ports: { name: string; targetPort: number }[];
      selector: Record<string, string>;
    };
    assert.deepEqual(
      ports.map(({ name, targetPort }) => [name, targetPort]),
      container.ports.map(({ name, containerPort }) => [name, containerPort]),
    );
    const { labels } = all.deployment.spec!.template!.metadata as { labels: Record<string, string> };
    for (const [key, value] of Object.entries(selector)) assert.equal(labels[key], value);
  });
}

test("a balancer is asked for its health at a port that it does not balance, others at the port that they serve", () => {
  const portOf = ({ httpGet, tcpSocket }: Probe): number | undefined => (httpGet ?? tcpSocket)?.port;
  for (const [kind, all] of Object.entries(rendered)) {
    const [container] = podOf(all).containers;
    const served = container.ports.map(({ containerPort }) => containerPort);
    const isBalancer = kind.startsWith("loadBalancer");
    for (const probe of [container.readinessProbe, container.livenessProbe])
      assert.equal(served.includes(portOf(probe)!), !isBalancer, kind);
  }
});

test("a health port that the balanced range takes is another one", () => {
  const { deployment } = rendered.loadBalancerWorker;
  const usual = podOf({ ...rendered.loadBalancerWorker, deployment }).containers[0].readinessProbe.httpGet!.port;
  const range = { start: usual, end: usual + 1 };
  const other = workerBalancer(entry("loadBalancerWorker"), { ...common, nodePortRange: range } as never, hosts);
  assert.equal(podOf(other).containers[0].readinessProbe.httpGet!.port, usual + 2);
});

test("a balancer has the hosts of its role alone; other services have none to balance", () => {
  assert.deepEqual(rendered.loadBalancerControlPlane.servers, ["10.0.0.1"]);
  assert.deepEqual(rendered.loadBalancerWorker.servers, ["10.0.0.2"]);
  assert.equal(rendered.jumpHost.servers, undefined);
  assert.equal(rendered.auth.servers, undefined);
});
