/** What `slipway doctor` finds, each with its repair. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { systemClock as clock, Fault, seededRandom } from "@slipway/base";
import { ConfigMap, Lease, Namespace, Secret } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { load } from "js-yaml";
import { installCrds } from "../kinds/install.ts";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";
import { encode } from "../netboot/dhcp/wire/encode.ts";
import { decode, REPLY } from "../netboot/dhcp/wire/message.ts";
import { netbootSettings } from "../netboot/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { createAuthority } from "../pki/authority.ts";
import { certificateFinding } from "./doctor/certificates.ts";
import { discover, offeredBy } from "./doctor/dhcp-servers.ts";
import { type Finding, findingLines, findingsOf } from "./doctor/finding.ts";
import { networkChecks, type Port, portsOf } from "./doctor/network.ts";
import { verb as doctor } from "./doctor.ts";
import { verb as sim } from "./sim.ts";
import { going, servedCluster, spoken } from "./testing.ts";

const of = (findings: readonly Finding[], about: string): Finding => {
  const found = findings.find((one) => one.about === about);
  assert.ok(found, `${about} in ${findings.map((one) => one.about)}`);
  return found;
};

const FIRST = SYSTEMS[0]!;

async function cluster(t: TestContext) {
  const { client, kubeconfig } = await servedCluster(t);
  const look = async (...args: string[]) => {
    const { out, code } = await spoken(t, doctor, "doctor", ...args, "-o", "json", "--kubeconfig", kubeconfig);
    return { code, findings: JSON.parse(out).findings as Finding[] };
  };
  const shown = async (...args: string[]) =>
    (await spoken(t, doctor, "doctor", ...args, "--kubeconfig", kubeconfig)).out;
  return { client, look, shown };
}

test("findings are printed as YAML, too, and are the same", async (t) => {
  const { look, shown } = await cluster(t);
  const { findings } = load(await shown("cluster", "--systems", FIRST.name, "-o", "yaml")) as { findings: Finding[] };
  const names = (list: readonly Finding[]) => list.map(({ about }) => about);
  assert.deepEqual(names(findings), names((await look("cluster", "--systems", FIRST.name)).findings));
});

test("a cluster without an installation: each thing that is missing has its repair, and the exit code is 1", async (t) => {
  const { look } = await cluster(t);
  const { code, findings } = await look("cluster", "--systems", FIRST.name);
  assert.equal(code, 1);
  for (const well of ["version", "clock", "API's authority", "own certificate", "rights"])
    assert.equal(of(findings, well).is, "well", well);
  const definitions = of(findings, `system ${FIRST.name}`);
  assert.ok(definitions.is === "problem");
  assert.match(definitions.repair, /^slipway crds --systems [a-z]+ \| kubectl apply/);
  const address = of(findings, "boot address");
  assert.ok(address.is === "warning" && /create configmap slipway --from-literal=bootUrl=URL/.test(address.repair));
  assert.equal(of(findings, "operator").is, "warning");
});

test("a cluster with an installation is well; a leader that no longer renews its lease is a problem", async (t) => {
  const { client, look } = await cluster(t);
  await installCrds(client, clock, new AbortController().signal, FIRST.kinds);
  const namespace = FIRST.home!.namespace;
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ConfigMap, {
    metadata: { namespace, name: "slipway" },
    data: { bootUrl: "https://boot.example" },
  });
  const renewTime = (ageMs: number) => new Date(clock.now() - ageMs).toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: renewTime(0) };
  await client.create(Lease, { metadata: { namespace, name: `slipway-${FIRST.name}` }, spec } as never);
  const { code, findings } = await look("cluster", "--systems", FIRST.name);
  assert.deepEqual([code, findings.filter(({ is }) => is !== "well")], [0, []]);
  await client.patch(
    Lease,
    { namespace, name: `slipway-${FIRST.name}` },
    { type: "merge", body: { spec: { renewTime: renewTime(60_000) } } },
  );
  const later = await look("cluster", "--systems", FIRST.name);
  const stale = of(later.findings, "operator");
  assert.deepEqual([later.code, stale.is, stale.message], [1, "problem", `nobody leads ${FIRST.name}`]);
  const never = { type: "merge", body: { spec: { renewTime: null } } } as const;
  await client.patch(Lease, { namespace, name: `slipway-${FIRST.name}` }, never);
  assert.equal(of((await look("cluster", "--systems", FIRST.name)).findings, "operator").message, stale.message);
});

test("an account without its Secret, without a key, and one that the provider does not take, are problems that never show the key", async (t) => {
  const { client, look } = await cluster(t);
  const { namespace, secret } = FIRST.home!;
  const none = await look("account");
  assert.ok(
    none.findings[0]?.is === "problem" &&
      /create it with METAL_AUTH_TOKEN and PROJECT_ID/.test(none.findings[0].repair),
  );
  await client.create(Namespace, { metadata: { name: namespace } });
  const token = "a-key-that-nobody-may-see";
  await client.create(Secret, { metadata: { namespace, name: secret }, stringData: { METAL_AUTH_TOKEN: token } });
  const half = await look("account");
  assert.match(half.findings[0]!.message, /has no key PROJECT_ID/);
  const cloud = going(t, sim, "sim", "equinix", "--token", token, "-o", "json");
  const { endpoint, project } = JSON.parse(await cloud.line(/^\{/)) as { endpoint: string; project: string };
  process.env.EQUINIX_ENDPOINT = endpoint;
  t.after(() => delete process.env.EQUINIX_ENDPOINT);
  const account = async (data: object) => {
    await client.patch(Secret, { namespace, name: secret }, { type: "merge", body: { stringData: data } });
    return await look("account");
  };
  const taken = await account({ PROJECT_ID: project });
  assert.deepEqual(
    [taken.code, taken.findings[0]!.message],
    [0, "equinix takes the credentials; 0 machines are there"],
  );
  const refused = await account({ METAL_AUTH_TOKEN: "another-key-nobody-sees" });
  assert.deepEqual([refused.code, refused.findings[0]!.is], [1, "problem"]);
  await cloud.stop();
  for (const text of [JSON.stringify([none, half, taken]), JSON.stringify(refused)])
    assert.doesNotMatch(text, /nobody/);
});

/** A token of an account that has no rights. */
async function accountToken(kubeconfig: string): Promise<string> {
  const transport = createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));
  try {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const answer = await transport.request({ method: "POST", path, body });
    return (answer.body as { status: { token: string } }).status.token;
  } finally {
    await transport.close();
  }
}

test("an account that may not be looked at is a problem that names the right, and no stack trace", async (t) => {
  const { client, kubeconfig } = await servedCluster(t);
  await installCrds(client, clock, new AbortController().signal, [[MachineProvider]]);
  await client.create(Namespace, { metadata: { name: FIRST.home!.namespace } });
  const key = "a-key-that-nobody-may-see";
  await client.create(Secret, {
    metadata: { namespace: FIRST.home!.namespace, name: FIRST.home!.secret },
    stringData: { METAL_AUTH_TOKEN: key, PROJECT_ID: "p" },
  });
  const token = await accountToken(kubeconfig);
  const weak = join(mkdtempSync(join(tmpdir(), "slipway-doctor-")), "kubeconfig");
  t.after(() => rmSync(dirname(weak), { recursive: true }));
  const given = load(readFileSync(kubeconfig, "utf8")) as { users: { user: object }[] };
  for (const one of given.users) one.user = { token };
  writeFileSync(weak, JSON.stringify(given));
  const look = async (...args: string[]) => {
    const { out, code } = await spoken(t, doctor, "doctor", "account", ...args, "-o", "json", "--kubeconfig", weak);
    assert.ok(!out.includes(key));
    return { code, findings: JSON.parse(out).findings as Finding[] };
  };
  const { code, findings } = await look();
  assert.deepEqual([code, findings.map(({ is }) => is)], [1, ["problem", "problem"]]);
  assert.match(findings[0]!.message, /cannot list resource "machineproviders"/);
  assert.match(findings[1]!.message, /^Secret\/harvester-system\/equinix-addon: the API answered 403 Forbidden$/);
  for (const finding of findings) assert.match(finding.is === "problem" ? finding.repair : "", /check the RBAC rules/);
  const named = await look("latitude-fra");
  assert.match(named.findings[0]!.message, /cannot get resource "machineproviders"/);
});

/** Settings on the first of this machine's interfaces that has an address. */
const settingsOf = (more: object = {}) => {
  const found = Object.entries(networkInterfaces()).find(([, all = []]) =>
    all.some(({ family, internal }) => family === "IPv4" && !internal),
  );
  assert.ok(found, "this machine has no interface with an IPv4 address");
  return { settings: (dhcp: object) => netbootSettings({ interface: found[0], dhcp, ...more }, "test") };
};

test("a network for netboot: ports that are taken or not allowed, boot files that are missing, another DHCP server", async (t) => {
  const assets = mkdtempSync(join(tmpdir(), "slipway-doctor-"));
  t.after(() => rmSync(assets, { recursive: true }));
  const { settings } = settingsOf();
  const pool = settings({ subnets: [{ network: "198.51.100.0/24" }] });
  const tryPort = async ({ port }: Port) => {
    if (port === 67) throw Object.assign(new Error(), { code: "EADDRINUSE" });
    if (port === 69) throw Object.assign(new Error(), { code: "EACCES" });
  };
  const found = await findingsOf(
    networkChecks({ settings: pool, assets, tryPort, dhcpServers: async () => ["192.0.2.7"] }),
  );
  assert.equal(of(found, "interface").is, "well");
  const elsewhere = of(found, "subnets");
  assert.ok(elsewhere.is === "warning" && /behind relays/.test(elsewhere.repair));
  const files = of(found, "boot files");
  assert.ok(files.is === "problem" && /make agent/.test(files.repair), files.message);
  const [dhcp, tftp, http] = ["port 67/udp", "port 69/udp", "port 8080/tcp"].map((about) => of(found, about));
  assert.ok(dhcp!.is === "problem" && /ss -lnpu 'sport = :67'/.test(dhcp!.repair));
  assert.ok(tftp!.is === "problem" && /CAP_NET_BIND_SERVICE/.test(tftp!.repair));
  assert.equal(http!.is, "well");
  const other = of(found, "other DHCP");
  assert.ok(
    other.is === "problem" &&
      /192\.0\.2\.7 gives addresses, too/.test(other.message) &&
      /--dhcp proxy/.test(other.repair),
  );
});

test("beside another DHCP server the other way round: somebody has to give the addresses", async () => {
  const { settings } = settingsOf();
  const of2 = async (dhcpServers: () => Promise<string[]>) =>
    of(
      await findingsOf(
        networkChecks({
          settings: settings({ mode: "proxy" }),
          assets: "/nowhere",
          tryPort: async () => {},
          dhcpServers,
        }),
      ),
      "other DHCP",
    );
  assert.equal((await of2(async () => [])).is, "problem");
  assert.equal((await of2(async () => ["192.0.2.7"])).is, "well");
  const refused = await of2(async () => {
    throw new Fault("Unavailable", "udp", "not allowed", { remedy: "be root" });
  });
  assert.deepEqual([refused.is, refused.is !== "well" && refused.repair], ["warning", "be root"]);
});

test("a port whose address is gone, or that fails for another reason, has a repair; free ports say for whom", async () => {
  const { settings } = settingsOf({ tftp: { enabled: false } });
  const tryPort = async ({ port }: Port) => {
    if (port === 67) throw Object.assign(new Error(), { code: "EADDRNOTAVAIL" });
    if (port === 8080) throw Object.assign(new Error(), { code: "EADDRINUSE" });
    if (port === 8443) throw new Error("odd");
  };
  const pool = settings({ mode: "off" });
  const found = await findingsOf(
    networkChecks({ settings: settings({ mode: "proxy" }), assets: "/nowhere", tryPort, dhcpServers: async () => [] }),
  );
  assert.deepEqual(
    ["port 67/udp", "port 4011/udp", "port 8080/tcp", "port 8443/tcp"].map((about) => {
      const finding = of(found, about);
      return [finding.message, finding.is !== "well" && finding.repair.replace(/;.*/, "")];
    }),
    [
      ["DHCP can't listen: EADDRNOTAVAIL", "give the interface its address again: ip addr"],
      ["free for PXE", false],
      ["HTTP can't listen: EADDRINUSE", "end what listens there: ss -lnpt 'sport = :8080'"],
      ["HTTPS for agents can't listen: odd", "see the system's log"],
    ],
  );
  const off = await findingsOf(
    networkChecks({ settings: pool, assets: "/nowhere", tryPort, dhcpServers: async () => ["192.0.2.7", "192.0.2.8"] }),
  );
  assert.equal(of(off, "subnets").message, "DHCP off: no address is given from a pool");
  assert.equal(of(off, "other DHCP").message, "192.0.2.7, 192.0.2.8 gives the addresses");
  assert.equal(of(off, "name servers").message, "machines are given none");
});

test("the own address is no other DHCP server; a subnet of the interface is well", async () => {
  const { settings } = settingsOf();
  const { address, netmask } = Object.values(networkInterfaces())
    .flatMap((all = []) => all)
    .find(({ family, internal }) => family === "IPv4" && !internal)!;
  const bits = netmask.split(".").reduce((sum, part) => sum + Number(part).toString(2).replaceAll("0", "").length, 0);
  const [parts, mask] = [address, netmask].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const network = `${parts.map((part, i) => part & mask[i]!).join(".")}/${bits}`;
  const found = await findingsOf(
    networkChecks({
      ...{ settings: settings({ subnets: [{ network }] }), assets: "/nowhere" },
      ...{ tryPort: async () => {}, dhcpServers: async () => [address] },
    }),
  );
  assert.deepEqual(of(found, "subnets"), { about: "subnets", is: "well", message: network });
  assert.deepEqual(of(found, "other DHCP"), { about: "other DHCP", is: "well", message: "none answers" });
});

test("ports are those of the settings", () => {
  const { settings } = settingsOf({ syslog: { enabled: false }, tftp: { enabled: false } });
  assert.deepEqual(
    portsOf(settings({ mode: "off" })).map(({ port }) => port),
    [8080, 8443],
  );
  assert.deepEqual(
    portsOf(settings({ mode: "proxy" })).map(({ port }) => port),
    [67, 4011, 8080, 8443],
  );
  assert.deepEqual(
    portsOf(settingsOf().settings({ mode: "off" })).map(({ protocol, port }) => `${port}/${protocol}`),
    ["69/udp", "514/udp", "8080/tcp", "8443/tcp"],
  );
});

test("who offers an address is read from answers to what was asked; all else is nobody", () => {
  const { bytes, xid } = discover(seededRandom(1));
  const asked = decode(bytes);
  assert.equal(asked.options.get(53)?.[0], 1);
  assert.equal(asked.chaddr[0]! & 0b11, 0b10, "locally administered, and for one");
  const offer = (type: number, more: [number, Uint8Array][] = []) =>
    encode({ ...asked, op: REPLY, siaddr: 0xc0_00_02_08, options: new Map([[53, Uint8Array.of(type)], ...more]) })
      .bytes;
  assert.equal(offeredBy(offer(2, [[54, Uint8Array.of(192, 0, 2, 7)]]), xid), "192.0.2.7");
  assert.equal(offeredBy(offer(2), xid), "192.0.2.8");
  assert.equal(offeredBy(offer(2, [[54, Uint8Array.of(1)]]), xid), "192.0.2.8");
  assert.equal(offeredBy(offer(5), xid), undefined);
  assert.equal(offeredBy(offer(2), xid + 1), undefined);
  assert.equal(offeredBy(bytes, xid), undefined);
  assert.equal(offeredBy(Uint8Array.of(1, 2, 3), xid), undefined);
});

test("certificates: valid, soon over, over, not yet valid, none at all", async () => {
  const { certificatePem } = await createAuthority({ commonName: "a", clock });
  const { X509Certificate } = await import("node:crypto");
  const { validFrom, validTo } = new X509Certificate(certificatePem);
  const DAY = 86_400_000;
  const at = (now: number, pem = certificatePem) => certificateFinding("c", pem, { now, renew: "renew it" });
  assert.equal(at(Date.parse(validFrom) + DAY).is, "well");
  assert.equal(at(Date.parse(validTo) - 13 * DAY).is, "warning");
  assert.deepEqual(at(Date.parse(validTo) + DAY), {
    about: "c",
    is: "problem",
    message: "it ended 1d ago",
    repair: "renew it",
  });
  assert.match(at(Date.parse(validFrom) - DAY).message, /not valid before/);
  assert.equal(at(0, "no").is, "problem");
});

test("a look that fails is a problem with the fault's remedy, and the others go on; a repair stands below its finding", async () => {
  const findings = await findingsOf([
    { about: "a", look: async () => Promise.reject(new Fault("Forbidden", "x", "no", { remedy: "ask" })) },
    { about: "bb", look: async () => [{ about: "bb", is: "well", message: "fine" }] },
  ]);
  assert.deepEqual(findingLines(findings).map(stripVTControlCharacters), ["✖ a   x: no", "      → ask", "✔ bb  fine"]);
});
