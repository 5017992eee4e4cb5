/** What the Pods of services read: configurations, Secrets, settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { issuerHost } from "./auth/auth.ts";
import { haproxyConfig } from "./balance/haproxy-config.ts";
import { workerBalancer } from "./balance/load-balancer.ts";
import { hostKeySecret } from "./jump/jump-host.ts";
import { apiBalancer, common, entry, hosts, jump, KEYS, provider, textsOf } from "./testing.ts";

const HAPROXY = `global
  log stdout format raw local0 info
  hard-stop-after 600s

defaults
  mode tcp
  log global
  option dontlognull
  option tcpka
  retries 3
  option redispatch 1
  timeout queue 30s
  timeout connect 5s
  timeout client 600s
  timeout server 600s

frontend health
  mode http
  bind *:8404
  monitor-uri /healthz

frontend http-frontend
  bind *:6443
  default_backend http-backend

backend http-backend
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  option log-health-checks
  default-server check inter 5s fastinter 1s downinter 2s fall 4 on-marked-down shutdown-sessions check-ssl verify none
  server a 10.0.0.1:6443
`;

test("a range of ports is taken at its limits", () => {
  const range = (start: number, end: number) =>
    workerBalancer(entry("loadBalancerWorker"), { ...common, nodePortRange: { start, end } } as never, hosts);
  assert.deepEqual(
    range(30_001, 30_002).service.spec!.ports!.map(({ name, port, nodePort }) => [name, port, nodePort]),
    [
      ["port-30001", 30_001, 30_001],
      ["port-30002", 30_002, 30_002],
    ],
  );
  assert.equal(range(5, 5).service.spec!.ports!.length, 1);
  assert.equal(range(1, 1_000).service.spec!.ports!.length, 1_000);
  const on = "spec.services.loadBalancerWorker[0].nodePortRange";
  assert.throws(() => range(1, 1_001), { on, message: /more than 1000 ports/ });
  assert.throws(() => range(2, 1), { on, message: /it ends at 1, before its start 2/ });
  assert.throws(() => range(0, 1), { on: `${on}.start` });
  assert.throws(() => range(1, 65_536), { on: `${on}.end` });
});

test("the API of a hosted control plane is balanced over where no host has the role", () => {
  const hosted = { name: "hosted", address: "10.9.0.1", port: 7443 };
  assert.deepEqual(apiBalancer({}, hosted).servers, ["10.0.0.1"]);
  const alone = apiBalancer({}, hosted, hosts.slice(1));
  assert.deepEqual(alone.servers, ["10.9.0.1"]);
  assert.match(textsOf(alone.secrets[0]!.data)["haproxy.cfg"]!, /^ {2}server hosted 10\.9\.0\.1:7443$/m);
  assert.deepEqual(apiBalancer({}, undefined, []).servers, []);
  const image = (fields: object) =>
    (apiBalancer(fields).deployment.spec!.template!.spec as { containers: { image: string }[] }).containers[0]!.image;
  assert.deepEqual([image({}), image({ image: "" })], ["i", "haproxy:2.3.2"]);
});

test("HAProxy's configuration, line by line", () => {
  const servers = [{ name: "a", address: "10.0.0.1" }];
  const of = (check: "apiserver" | "connect") =>
    haproxyConfig({ ports: [{ name: "http", port: 6443 }], servers, check, healthPort: 8404 });
  assert.equal(of("apiserver"), HAPROXY);
  assert.equal(
    of("connect").split("\n").slice(-5).join("\n"),
    `  balance roundrobin
  option log-health-checks
  default-server check inter 5s fastinter 1s downinter 2s fall 4 on-marked-down shutdown-sessions
  server a 10.0.0.1:6443
`,
  );
});

test("a jump host's files: hosts without credentials, a pair of files for each management controller, names in one line an address", () => {
  const { secrets, configMaps, deployment } = jump();
  const [own, credentials] = secrets.map(({ data }) => textsOf(data));
  assert.deepEqual(JSON.parse(own!.hosts!), [
    {
      ...{ name: "a", role: "ControlPlane", address: "10.0.0.1" },
      bmc: {
        ...{ address: "redfish+https://192.0.2.9/redfish/v1/Systems/1", origin: "https://192.0.2.9" },
        ...{ system: "/redfish/v1/Systems/1", disableCertificateVerification: true },
      },
    },
    {
      ...{ name: "b", role: "Worker", address: "10.0.0.2" },
      bmc: {
        ...{ address: "redfish+https://192.0.2.9/redfish/v1/Systems/1", origin: "https://192.0.2.9" },
        system: "/redfish/v1/Systems/1",
      },
    },
    { name: "d", role: "Other", address: "10.0.0.2", bmc: { address: "ipmi://192.0.2.8" } },
    {
      ...{ name: "e", role: "Other", address: "10.0.0.3" },
      bmc: { address: "redfish+https://192.0.2.7", origin: "https://192.0.2.7" },
    },
    { name: "f", role: "Other", address: "10.0.0.4" },
  ]);
  assert.match(own!.ssh_config!, /^Host a\n {2}HostName 10\.0\.0\.1$/m);
  const pairs = ["a", "b", "d", "e"].flatMap((name) => [
    [`${name}.username`, "u"],
    [`${name}.password`, "p"],
  ]);
  assert.deepEqual(credentials, Object.fromEntries(pairs));
  assert.deepEqual(
    secrets.map(({ metadata, type }) => [metadata.name, type]),
    [
      ["jumphost-c", "Opaque"],
      ["jumphostbmc-c", "Opaque"],
    ],
  );
  const [files] = configMaps;
  assert.deepEqual(Object.keys(files!.data!), ["authorized-keys", "host", "sshd_config"]);
  const { hostAliases } = deployment.spec!.template!.spec as { hostAliases: { ip: string; hostnames: string[] }[] };
  assert.deepEqual(
    hostAliases.map(({ ip, hostnames }) => `${ip} ${hostnames.join(" ")}`),
    ["10.0.0.1 a", "10.0.0.2 b d", "10.0.0.3 e", "10.0.0.4 f"],
  );
});

test("the host key's Secret has both halves", () => {
  const secret = hostKeySecret(entry("jumpHost"), { privateKey: "PRIVATE", authorizedKey: "PUBLIC" });
  assert.equal(secret.metadata.name, "jumphostkey-c");
  assert.deepEqual(textsOf(secret.data), { ssh_host_ed25519_key: "PRIVATE", "ssh_host_ed25519_key.pub": "PUBLIC\n" });
});

test("a provider's Secrets, settings and issuer", () => {
  const { secrets, configMaps, oidc } = provider();
  assert.deepEqual(
    secrets.map(({ metadata }) => metadata.name),
    ["dex-c", "dexkeys-c"],
  );
  assert.deepEqual(textsOf(secrets[1]!.data), KEYS);
  assert.deepEqual(oidc, {
    issuer: "https://192.0.2.1:30020/dex",
    clientID: "kubernetes",
    ca: "a",
    configMap: "dexsettings-c",
  });
  assert.equal(configMaps[0]!.data!["issuer-url"], oidc!.issuer);
  assert.equal(provider({}, {}, "fd00::1").oidc!.issuer, "https://[fd00::1]:30020/dex");
  const config = (texts: Record<string, string>) =>
    JSON.parse(textsOf(provider({}, texts).secrets[0]!.data)["config.yaml"]!);
  const both = config({ connectors: "- {type: ldap}", staticPasswords: "- {email: a}" });
  assert.deepEqual([both.connectors, both.staticPasswords], [[{ type: "ldap" }], [{ email: "a" }]]);
  assert.equal(config({ connectors: "" }).connectors, undefined);
  for (const key of ["connectors", "staticPasswords"])
    assert.throws(() => config({ [key]: "a: 1" }), {
      on: `spec.services.auth[0].configSecret ${key}`,
      message: /it is no YAML list/,
    });
  assert.equal(issuerHost(entry("auth"), { clusterIP: "192.0.2.1" } as never), "192.0.2.1");
  for (const clusterIP of ["", undefined])
    assert.throws(() => issuerHost(entry("auth"), { clusterIP } as never), {
      code: "MissingInput",
      on: "spec.services.auth[0].clusterIP",
    });
});
