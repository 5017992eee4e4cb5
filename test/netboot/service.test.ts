/** The whole of `slipway netboot` as a process, and two machines on its network that speak to it by curl: who gets what, also after it was killed. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Host } from "../../src/netboot/hosts/host.ts";
import { inventoryOf } from "../../src/netboot/hosts/testing.ts";
import type { Registered } from "../../src/netboot/protocol/messages.ts";
import { lacking, Namespace } from "./namespace.ts";
import { scratch } from "./served.ts";

const MACS = { a: "52:54:00:00:00:0a", b: "52:54:00:00:00:0b" };
const HOST_A = "host-52-54-00-00-00-0a";
const SERVER = "10.9.0.1";
const AGENT = `https://${SERVER}:8443/agent/v1`;
const DEADLINE_MS = 120_000;

const SETUP = `
ip link add rack type bridge
ip addr add ${SERVER}/24 dev rack
ip link set rack up
n=0
for m in a b; do
  n=$((n + 1))
  ip netns add $m
  ip link add port-$m type veth peer name eth0 netns $m
  ip link set port-$m master rack up
  ip netns exec $m ip link set eth0 address 52:54:00:00:00:0$m up
  ip netns exec $m ip addr add 10.9.0.10$n/24 dev eth0
done
`;

type Machine = keyof typeof MACS;

const skip = await lacking("curl", "logger");

test("N1 N2 N3 N10 N23 a netboot service serves each machine its own, and goes on where it was killed", {
  skip,
}, async (t) => {
  const dir = scratch(t);
  const secret = join(dir, "disk.raw");
  writeFileSync(secret, "an image");
  mkdirSync(join(dir, "assets"));
  const namespace = await Namespace.open(SETUP);
  after(() => namespace.close());

  const start = async (): Promise<void> => {
    const slipway = join(import.meta.dirname, "../../bin/slipway");
    const options = `--interface rack --dhcp off --no-kubernetes --dir ${dir}/state --assets ${dir}/assets`;
    const script = `echo $$ > ${dir}/pid; exec ${slipway} netboot ${options}`;
    await namespace.startSaying("netboot serves", "sh", ["-c", script]);
  };
  const kill = (): Promise<string> => namespace.shell(`kill -9 $(cat ${dir}/pid)`);
  const curl = async (net: Machine, url: string, ...options: string[]): Promise<{ status: number; body: string }> => {
    const args = ["-sk", "--path-as-is", "-w", "\n%{http_code}", ...options, url];
    const { stdout } = await namespace.run("curl", args, { net });
    const end = stdout.lastIndexOf("\n");
    return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
  };
  const bearer = (token: string): string[] => ["-H", `Authorization: Bearer ${token}`];
  const script = (net: Machine, of: Machine) => {
    const name = MACS[of].replaceAll(":", "-");
    return curl(net, `http://${SERVER}:8080/boot/${name}.ipxe?arch=x86_64&platform=efi`);
  };
  const boot = async (net: Machine): Promise<string> => {
    const { body } = await script(net, net);
    return /slipway\.boot=(\S+)/.exec(body)?.[1] ?? assert.fail(`no capability in ${body}`);
  };
  const register = async (net: Machine, capability: string, mac = MACS[net]) => {
    const body = JSON.stringify(inventoryOf(mac));
    return curl(net, `${AGENT}/hosts`, ...bearer(capability), "--data-binary", body);
  };
  const local = async (path: string, ...options: string[]): Promise<string> => {
    const { stdout } = await namespace.run("curl", [
      "-s",
      "--unix-socket",
      `${dir}/state/netboot.sock`,
      ...options,
      `http://local${path}`,
    ]);
    return stdout;
  };

  await start();
  const [bootA, bootB] = [await boot("a"), await boot("b")];
  const asked = JSON.parse(await local("/v1/hosts")) as { hosts: Host[] };
  assert.deepEqual(asked.hosts.map(({ mac }) => mac).sort(), [MACS.a, MACS.b], "whoever asks for a script is seen");
  assert.doesNotMatch((await script("b", "a")).body, new RegExp(MACS.a));
  assert.equal((await register("b", bootA, MACS.a)).status, 403);
  assert.equal((await register("a", "slc_none")).status, 401);
  const a = JSON.parse((await register("a", bootA)).body) as Registered;
  const b = JSON.parse((await register("b", bootB)).body) as Registered;
  assert.equal(a.host, HOST_A);

  const orders = `${AGENT}/hosts/${HOST_A}/orders`;
  assert.equal((await curl("a", orders)).status, 401);
  assert.equal((await curl("b", orders, ...bearer(b.token))).status, 403);
  assert.equal((await curl("b", orders, ...bearer(a.token))).status, 403);

  const lastSeen = async (): Promise<number> => (JSON.parse(await local(`/v1/hosts/${HOST_A}`)) as Host).lastSeen;
  const registeredAt = await lastSeen();
  const waiting = curl("a", `${orders}?wait=55`, ...bearer(a.token));
  const deadline = performance.now() + DEADLINE_MS;
  while ((await lastSeen()) === registeredAt)
    assert.ok(performance.now() < deadline, "the machine does not ask for work");
  await local(`/v1/hosts/${HOST_A}/approval`, "-X", "PUT", "--data-binary", "{}");
  const order = JSON.stringify({ order: "write", image: secret, data: { "user-data": "#cloud-config" } });
  const { id } = JSON.parse(await local(`/v1/hosts/${HOST_A}/orders`, "--data-binary", order)) as { id: string };
  const taken = await waiting;
  const { givenAt, takenAt = Infinity } = (JSON.parse(await local(`/v1/hosts/${HOST_A}`)) as Host).order!;
  assert.ok(takenAt - givenAt < 1_000, `taken after ${takenAt - givenAt} ms`);
  const { url, data } = JSON.parse(taken.body) as { url: string; data: { files: { url: string }[] } };
  const userData = data.files[0]!.url;
  assert.equal((await curl("a", url)).body, "an image");
  assert.match((await curl("a", userData)).body, /^age-encryption\.org\/v1\n/);
  assert.deepEqual([(await curl("b", url)).status, (await curl("b", userData)).status], [404, 404]);
  for (const path of [
    "/",
    "/private/",
    "/../state/hosts.db",
    "/hosts.db",
    `/..%2f..%2f${secret}`,
    "/package.json",
    "/agent/v1/",
  ])
    assert.equal((await curl("a", `http://${SERVER}:8080${path}`)).status, 404, path);

  await namespace.run("logger", ["--server", SERVER, "--udp", "--tag", "kernel", `up ${a.token}`], { net: "a" });
  const before = JSON.parse(await local("/v1/hosts")) as { hosts: Host[] };
  const said = await local(`/v1/hosts/${HOST_A}/logs`);
  assert.match(said, /kernel: up \[redacted\]/);
  assert.doesNotMatch(said, /sl[ch]_/);

  await kill();
  await start();
  const restored = JSON.parse(await local("/v1/hosts")) as typeof before;
  const lasting = ({ hosts }: typeof before) => hosts.map(({ lastSeen: _, ...rest }) => rest);
  assert.deepEqual(lasting(restored), lasting(before));
  const again = await curl("a", `${orders}?wait=55`, ...bearer(a.token));
  assert.deepEqual([again.status, (JSON.parse(again.body) as { id: string }).id], [200, id]);
  const done = JSON.stringify({ ok: true, message: "written" });
  assert.equal((await curl("a", `${orders}/${id}/result`, ...bearer(a.token), "--data-binary", done)).status, 204);
  assert.equal((await curl("a", userData)).status, 404);
  assert.equal((await curl("a", `${orders}?wait=1`, ...bearer(a.token))).status, 204);
});
