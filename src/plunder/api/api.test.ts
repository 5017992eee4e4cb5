import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { clientFileText, readClientFile } from "../client/client-file.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { type Answered, type Asking, GLOBAL, PRESEED, plunderWorld, registered } from "./testing.ts";

const MACS = [1, 2, 3].map((n) => `52:54:00:00:00:0${n}`);
const [MAC = ""] = MACS;

const deploymentOf = (mac: string, more: object = {}): object => ({
  mac,
  bootConfigName: "preseed",
  config: { address: "192.168.1.123", hostname: "web-1", ...more },
});

async function withBoot(t: TestContext, options: Parameters<typeof plunderWorld>[1] = {}) {
  const world = await plunderWorld(t, options);
  const done = async (answer: Promise<Answered>): Promise<Answered["body"]> => {
    const { status, body } = await answer;
    assert.equal(status, 200);
    assert.equal(body.error, undefined);
    assert.equal(body.success, "true");
    return body;
  };
  await done(world.ask("/config/boot/preseed", { method: "POST", body: PRESEED }));
  return { ...world, done };
}

/** Until the steps that have begun are done. */
async function until(what: string, is: () => Promise<boolean> | boolean): Promise<void> {
  const limit = AbortSignal.timeout(60_000);
  while (!(await is())) {
    if (limit.aborted) assert.fail(`not in 60 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("N1 every endpoint is refused without a certificate, with a foreign one, and with a revoked one", async (t) => {
  const { ask, local } = await plunderWorld(t);
  const other = await plunderWorld(t);
  const foreign = {
    key: readFileSync(join(other.folder, "pki/client-key.pem")),
    cert: readFileSync(join(other.folder, "pki/client.pem")),
  };
  const { file } = (await local("/v1/plunder/clients", "POST", { name: "ci" })).body as { file: string };
  const { credentials } = readClientFile(file, "answer");
  const client = { key: credentials!.keyPem, cert: credentials!.certificatePem };
  assert.equal((await ask("/deployments", { client })).status, 200);
  assert.equal((await local("/v1/plunder/clients/ci", "DELETE")).status, 200);
  const paths = ENDPOINTS.map(({ method, path, functionEndpoint }) => ({
    method,
    path: path + functionEndpoint.replace("{id}", "x"),
  }));
  for (const { method, path } of [
    ...paths,
    { method: "GET", path: "/v1/plunder/deployments" },
    { method: "GET", path: "/v1/hosts" },
  ]) {
    for (const shown of [null, foreign])
      await assert.rejects(
        ask(path, { method, client: shown ?? ({} as never) }),
        /alert|socket|ECONN|EPIPE/i,
        `${method} ${path}`,
      );
    assert.equal((await ask(path, { method, client })).status, 403, `${method} ${path}`);
  }
  const { clients } = (await local("/v1/plunder/clients")).body as { clients: { name: string; revokedAt?: number }[] };
  assert.deepEqual(
    clients.map(({ name, revokedAt }) => [name, revokedAt !== undefined]),
    [["ci", true]],
  );
  // Certificates are issued on the owner's socket alone.
  assert.equal((await ask("/v1/plunder/clients", { method: "POST", body: { name: "mallory" } })).status, 404);
});

test("N9 the same fault is a status code on the native path, and 200 with both words in the envelope", async (t) => {
  const { ask } = await withBoot(t);
  const faults: [path: string, asking: Asking, status: number][] = [
    ["/deployment/52-54-00-00-00-09", {}, 404],
    ["/deployment", { method: "POST", body: { mac: "no" } }, 400],
    ["/deployment", { method: "POST", body: { ...deploymentOf(MAC), bootConfigName: "absent" } }, 400],
    ["/config/boot/preseed", { method: "POST", body: PRESEED }, 409],
    ["/deployments", { method: "DELETE" }, 405],
    ["/nothing", {}, 404],
    ["/parlay/logs/10-0-0-1", {}, 404],
    ["/parlay", { method: "POST", body: "a: [" }, 400],
  ];
  for (const [path, asking, status] of faults) {
    const native = await ask(`/v1/plunder${path}`, asking);
    assert.equal(native.status, status, path);
    const { status: always, body } = await ask(path === "/nothing" ? "/api/nothing" : path, asking);
    assert.equal(always, 200);
    assert.ok(typeof body.error === "string" && body.error !== "", path);
    assert.deepEqual([body.warning, body.friendlyError, body.payload], [body.error, body.error, undefined]);
  }
});

test("a client that knows the discovery alone finds its way through every function", async (t) => {
  const { ask, done } = await withBoot(t);
  const { payload } = await done(ask("/api"));
  const found = payload as typeof ENDPOINTS;
  /** As plunder's clients do: by name and verb, and the id in its place. */
  const call = async (
    name: string,
    method: string,
    { id = "", suffix = "", body }: { id?: string; suffix?: string; body?: unknown } = {},
  ) => {
    const { payload: endpoint } = (await done(ask(`/api/${name}/${method}`))) as {
      payload: (typeof ENDPOINTS)[number];
    };
    const listed = found.find(
      (each) => each.name === name && each.method === method && (suffix === "" || each.functionEndpoint === suffix),
    );
    const { path, functionEndpoint } = suffix === "" ? endpoint : listed!;
    return done(ask(path + functionEndpoint.replace("{id}", id), { method, body }));
  };
  await call("configBoot", "POST", { id: "other", body: { configName: "other", kernelPath: "k", initrdPath: "i" } });
  await call("configBoot", "DELETE", { id: "other" });
  await call("deployments", "POST", {
    body: { globalConfig: GLOBAL, deployments: [deploymentOf(MACS[1]!, { address: "10.0.0.9" })] },
  });
  await call("deployment", "POST", { body: deploymentOf(MAC) });
  await call("deployment", "PATCH", { body: deploymentOf(MAC, { hostname: "web-2" }) });
  await call("deploymentID", "PATCH", { id: "global", body: { ...GLOBAL, ntpserver: "ntp.example.org" } });
  const one = (await call("deploymentID", "GET", { id: MAC.replaceAll(":", "-") })).payload as {
    config: { hostname: string };
  };
  assert.equal(one.config.hostname, "web-2");
  const all = (await call("deployments", "GET")).payload as {
    globalConfig: { ntpserver: string; password: string };
    deployments: object[];
  };
  assert.deepEqual([all.deployments.length, all.globalConfig.ntpserver], [2, "ntp.example.org"]);
  assert.match(all.globalConfig.password, /^\$6\$/);
  assert.equal(((await call("dhcp", "GET", { suffix: "/leases" })).payload as object[]).length, 1);
  assert.deepEqual((await call("dhcp", "GET", { suffix: "/unleased" })).payload, []);
  const { bootConfigs } = (await call("config", "GET")).payload as { bootConfigs: object[] };
  await call("config", "POST", { body: { bootConfigs } });
  await call("deploymentAddress", "DELETE", { id: "10-0-0-9" });
  await call("deploymentMac", "DELETE", { id: MAC.replaceAll(":", "-") });
  assert.deepEqual(((await call("deployments", "GET")).payload as { deployments: object[] }).deployments, []);
});

test("N30 a MAC is the same in every notation, and a second deployment for it is refused", async (t) => {
  const { ask, done } = await withBoot(t);
  const mac = "aa:bb:cc:dd:ee:0f";
  await done(ask("/deployment", { method: "POST", body: deploymentOf("AA-BB-CC-DD-EE-0F") }));
  const again = await ask("/deployment", { method: "POST", body: deploymentOf(mac) });
  assert.match(again.body.error!, /aa:bb:cc:dd:ee:0f: there is a deployment for it/);
  await done(
    ask("/deployment", { method: "PATCH", body: deploymentOf("AABB.CCDD.EE0F".toLowerCase(), { hostname: "x" }) }),
  );
  for (const id of ["AA-BB-CC-DD-EE-0F", "aa:bb:cc:dd:ee:0f"]) await done(ask(`/deployment/${id}`));
  await done(ask("/deployment/mac/AA-BB-CC-DD-EE-0F", { method: "DELETE" }));
  assert.equal((await ask(`/v1/plunder/deployment/${mac}`)).status, 404);
});

test("N7 a deployment takes exactly its machine off the list of those that wait, wherever it stands, and gives it back", async (t) => {
  const { ask, done, hosts } = await withBoot(t);
  for (const mac of MACS) hosts.seen({ mac });
  const listed = async (): Promise<string[]> =>
    ((await ask("/dhcp/unleased")).body.payload as { mac: string }[]).map(({ mac }) => mac).sort();
  for (const mac of [MACS[1]!, MACS[2]!, MACS[0]!]) {
    const before = await listed();
    await done(ask("/deployment", { method: "POST", body: deploymentOf(mac) }));
    assert.deepEqual(
      await listed(),
      before.filter((each) => each !== mac),
    );
  }
  assert.deepEqual(await listed(), []);
  for (const mac of MACS) await done(ask(`/deployment/${mac}`, { method: "DELETE" }));
  assert.deepEqual(await listed(), MACS);
});

test("N25, N26, N44 a deployment installs its machine once, with each of its fields; deleted, also the last, nothing of it is served", async (t) => {
  const { ask, done, hosts, installers } = await withBoot(t);
  await done(ask("/deployment/global", { method: "PATCH", body: GLOBAL }));
  registered(hosts, MAC);
  const sshkey = Buffer.from("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtleQ== me").toString("base64");
  const config = { lvmEnabled: true, swapDisabled: true, ntpserver: "ntp.example.org", sshkey, packages: "vim" };
  await done(ask("/deployment", { method: "POST", body: deploymentOf(MAC, config) }));
  await until("the machine has an installer", () => hosts.get(MAC)?.install !== undefined && installers.isReady(MAC));
  await until("its agent is to restart it", () => hosts.get(MAC)?.order?.is.order === "reboot");
  assert.equal(hosts.bootOf(MAC), "installer");
  const start = installers.startOf(MAC, "ipxe");
  assert.ok(start?.is === "kernel");
  assert.deepEqual(
    [start.kernel, start.initrd],
    ["http://192.0.2.1:8080/ubuntu/linux", "http://192.0.2.1:8080/ubuntu/initrd.gz"],
  );
  const line = start.commandLine.join(" ");
  for (const word of [
    "netcfg/get_ipaddress=192.168.1.123",
    "netcfg/get_netmask=255.255.255.0",
    "netcfg/get_gateway=192.168.1.1",
    "netcfg/get_hostname=web-1",
    "DEBCONF_DEBUG=5",
  ])
    assert.ok(line.includes(word), `${word} is not in ${line}`);
  const { install } = hosts.get(MAC)!;
  hosts.installs.end(hosts.get(MAC)!.name, install!.id, { ok: true, message: "done" });
  const progress = async () =>
    (await ask("/v1/plunder/progress")).body as unknown as { mac: string; state: string; message: string }[];
  await until("it counts as installed", async () => (await progress())[0]?.state === "installed");
  assert.equal(hosts.bootOf(MAC), "disk");
  // What has ended is not begun again by a change.
  await done(ask("/deployment", { method: "PATCH", body: deploymentOf(MAC, { hostname: "web-9" }) }));
  assert.equal(hosts.bootOf(MAC), "disk");
  await done(ask(`/deployment/address/192-168-1-123`, { method: "DELETE" }));
  const left = (await ask("/deployments")).body.payload as { deployments: object[] };
  assert.deepEqual(left.deployments, []);
  assert.equal(installers.startOf(MAC, "ipxe"), undefined);
  assert.equal(hosts.bootOf(MAC), "agent");
});

test("N25 a deployment that is deleted while its machine is installed ends the installation", async (t) => {
  const { ask, done, hosts, installers } = await withBoot(t);
  await done(ask("/deployment/global", { method: "PATCH", body: GLOBAL }));
  registered(hosts, MAC);
  await done(ask("/deployment", { method: "POST", body: deploymentOf(MAC) }));
  await until("the machine has an installer", () => hosts.get(MAC)?.install !== undefined);
  await done(ask(`/deployment/${MAC}`, { method: "DELETE" }));
  assert.equal(installers.startOf(MAC, "ipxe"), undefined);
  assert.equal(hosts.bootOf(MAC), "agent");
});

test("N29 what is wrong with one machine of a file is told and touches no other", async (t) => {
  const { ask, done, hosts } = await withBoot(t);
  for (const mac of MACS) registered(hosts, mac);
  const deployments = [
    deploymentOf(MACS[0]!),
    { ...deploymentOf(MACS[1]!, { address: "10.0.0.2" }), bootConfigName: "absent" },
    deploymentOf(MACS[2]!, { address: "10.0.0.3", hostname: "two" }),
  ];
  const { warning } = await done(ask("/deployments", { method: "POST", body: { globalConfig: GLOBAL, deployments } }));
  assert.match(warning!, /^52:54:00:00:00:02: bootConfigName: there is no boot configuration "absent"$/);
  const given = MACS.map((mac) => () => hosts.get(mac)?.install !== undefined);
  await until("both others have installers", () => given[0]!() && given[2]!());
  assert.equal(given[1]!(), false);
  const progress = (await ask("/v1/plunder/progress")).body as unknown as { message: string }[];
  assert.equal(progress[1]?.message, "a boot configuration absent");
});

test("N29 a body for another machine or name than the path is refused, and what has no effect is told beside the answer", async (t) => {
  const { ask, done } = await withBoot(t);
  const native = async (path: string, asking: Asking) => (await ask(`/v1/plunder${path}`, asking)).body;
  const [first = "", second = ""] = MACS;
  for (const mac of [first, second]) await done(ask("/deployment", { method: "POST", body: deploymentOf(mac) }));
  const changed = { method: "PATCH", body: deploymentOf(second, { hostname: "x" }) };
  assert.equal((await native(`/deployment/${first}`, changed)).code, "Invalid");
  await done(ask(`/deployment/${second.toUpperCase()}`, changed));
  const { config } = (await native(`/deployment/${second}`, {})) as { config?: { hostname?: string } };
  assert.equal(config?.hostname, "x");
  const boot = { method: "POST", body: { ...PRESEED, configName: "other" } };
  assert.equal((await native("/config/boot/another", boot)).code, "Invalid");
  await done(ask("/config/boot/other", boot));
  const body = { ...deploymentOf(MACS[2]!, { adapter: "eth0" }), bootConfig: { configName: "mine" } };
  const { warning } = await done(ask("/deployment", { method: "POST", body }));
  assert.match(warning!, /^bootConfig: the one that bootConfigName names.*; config\.adapter: the card is found/);
});

test("N25 a machine that is left out of all deployments gets nothing any more", async (t) => {
  const { ask, done, hosts, installers } = await withBoot(t);
  const all = (...macs: string[]) => ({
    method: "POST",
    body: { globalConfig: GLOBAL, deployments: macs.map((mac) => deploymentOf(mac)) },
  });
  registered(hosts, MAC);
  await done(ask("/deployments", all(MAC, MACS[1]!)));
  await until("the machine has an installer", () => installers.startOf(MAC, "ipxe") !== undefined);
  await done(ask("/deployments", all(MACS[1]!)));
  assert.equal(installers.startOf(MAC, "ipxe"), undefined);
  assert.equal(hosts.bootOf(MAC), "agent");
});

test("N29 what can't be installed has failed, with the reason; what is only missing yet is waited for", async (t) => {
  const { ask, done, hosts, clock } = await withBoot(t);
  const progress = async () =>
    (await ask("/v1/plunder/progress")).body as unknown as { state: string; message: string }[];
  await done(ask("/deployment", { method: "POST", body: deploymentOf(MAC) }));
  assert.deepEqual((await progress())[0]?.state, "waiting");
  registered(hosts, MAC);
  await until("it has failed", async () => (await progress())[0]?.state === "failed");
  assert.match((await progress())[0]!.message, /config\.username: who logs in is needed/);
  assert.equal(hosts.get(MAC)?.install, undefined);
  await clock.run(60_000);
  assert.equal((await progress())[0]?.state, "failed");
});

test("N31 a log that nobody has, of a machine on which no map was run, can't be deleted", async (t) => {
  const { ask } = await plunderWorld(t);
  for (const method of ["GET", "DELETE"])
    assert.equal((await ask("/v1/plunder/parlay/logs/10-0-0-1", { method })).body.code, "NotFound");
});

test("N10 after a restart the same deployments are there, and none that has ended is begun again", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-plunder-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const first = await withBoot(t, { dir });
  await first.done(
    first.ask("/deployments", { method: "POST", body: { globalConfig: GLOBAL, deployments: [deploymentOf(MAC)] } }),
  );
  registered(first.hosts, MAC);
  await until("the machine has an installer", () => first.hosts.get(MAC)?.install !== undefined);
  const name = first.hosts.get(MAC)!.name;
  first.hosts.installs.end(name, first.hosts.get(MAC)!.install!.id, { ok: true, message: "done" });
  await until(
    "that is written down",
    async () =>
      ((await first.ask("/v1/plunder/progress")).body as unknown as { state: string }[])[0]?.state === "installed",
  );
  const before = (await first.ask("/deployments")).body.payload;
  await first.close();
  const second = await plunderWorld(t, { dir });
  assert.deepEqual((await second.ask("/deployments")).body.payload, before);
  // Its record is gone here: only what is kept of the deployment says that it was installed.
  registered(second.hosts, MAC);
  assert.equal(
    ((await second.ask("/v1/plunder/progress")).body as unknown as { state: string }[])[0]?.state,
    "installed",
  );
  assert.equal(second.hosts.get(MAC)?.install, undefined);
  await second.close();
});

test("what the original took and did not do is refused in words", async (t) => {
  const { ask } = await withBoot(t);
  const refusal = async (path: string, body: unknown, words: RegExp): Promise<void> =>
    assert.match((await ask(path, { method: "POST", body })).body.error ?? "", words);
  await refusal("/config/boot/esx", { configName: "esx", configType: "vsphere" }, /ESXi is not installed/);
  await refusal(
    "/config/boot/iso",
    { ...PRESEED, configName: "iso", isoPath: "/x.iso", isoPrefix: "x" },
    /boot\.images/,
  );
  await refusal("/config", { enableDHCP: true, bootConfigs: [] }, /enableDHCP: changed by netboot's settings/);
  await refusal(
    "/deployment",
    deploymentOf(MAC, { sshkeypath: "/root/.ssh/id_rsa.pub" }),
    /config\.sshkeypath: no effect/,
  );
  await refusal("/deployment", deploymentOf(MAC, { sourceImage: "http://x" }), /config\.sourceImage: no effect/);
  await refusal(
    "/deployment",
    deploymentOf(MAC, { swapEnabled: true }),
    /line 1, config\.swapEnabled: there is no such field/,
  );
  const map = (action: object) => ({
    deployments: [{ name: "d", hosts: ["10.0.0.1"], actions: [{ name: "a", type: "command", ...action }] }],
  });
  await refusal("/parlay", map({ command: "id", commandLocal: true }), /not run over the network/);
  await refusal("/parlay", map({ command: "cat", commandPipeCmd: "id" }), /not run over the network/);
});

test("where objects of a cluster say what is installed, deployments are refused, and the rest is served", async (t) => {
  const { ask } = await plunderWorld(t, { deploys: false });
  assert.equal((await ask("/v1/plunder/deployment", { method: "POST", body: deploymentOf(MAC) })).status, 403);
  assert.equal((await ask("/v1/plunder/dhcp/unleased")).status, 200);
  assert.equal((await ask("/v1/plunder/config")).status, 200);
});

test("Secret plunder and plunderclient.yaml: what is written is read back, and what is wrong is named by line without a value", async (t) => {
  const { local } = await plunderWorld(t);
  const { file } = (await local("/v1/plunder/clients", "POST", { name: "secret" })).body as { file: string };
  const read = readClientFile(file, "f");
  assert.equal(clientFileText(read), file);
  assert.throws(
    () => readClientFile(file.replace(/^cert: .*/m, "cert: hunter2"), "f"),
    (error: Error) => /line 3, cert: base64 of a PEM/.test(error.message) && !error.message.includes("hunter2"),
  );
  assert.throws(() => readClientFile(file.replace(/^clientKey: .*\n/m, ""), "f"), /belong together/);
  const { credentials: _, ...plain } = read;
  assert.equal(readClientFile(clientFileText(plain), "f").credentials, undefined);
});
