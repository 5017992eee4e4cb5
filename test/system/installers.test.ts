/** Installers by boot profile: what users see of them, and what nobody else gets, on simulated servers in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ConfigMap, Event, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { type InventoryOptions, InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";
import { PROFILES, profile } from "./profiles.ts";

async function rack(t: TestContext, options: InventoryOptions = {}): Promise<InventoryWorld> {
  const world = await InventoryWorld.create(options);
  t.after(() => world.close());
  await world.start();
  return world;
}

for (const [installer, text] of Object.entries(PROFILES))
  for (const bmc of [true, false])
    test(`a host ${bmc ? "with" : "without"} a BMC is installed by ${installer}, and wiped when that is taken back`, async (t) => {
      const world = await rack(t);
      const server = world.rack("node-1");
      server.disks[0]!.content = LEFT_OVER;
      await profile(world, "system", text);
      await world.declare("node-1", { bmc });
      if (!bmc) server.on();
      await world.reaches("node-1", "available");
      const { starts } = server;
      await world.change("node-1", { spec: { customDeploy: { method: `${installer}/system` } } });
      const provisioned = await world.reaches("node-1", "provisioned");
      assert.equal(provisioned.status?.provisioning?.customDeploy?.method, `${installer}/system`);
      await world.until("it runs", () => server.running?.is === "system" && server.running.image === installer);
      assert.equal(server.starts, starts + 2, "once into the installer, once from its disk");
      await world.change("node-1", { spec: { customDeploy: null } });
      if (!bmc) {
        await world.until("it asks for somebody", async () =>
          /somebody to start/.test((await world.host("node-1"))?.status?.waitingFor ?? ""),
        );
        server.restart();
      }
      await world.reaches("node-1", "available");
      assert.equal(server.disks[0]?.content, undefined);
    });

test("a script in the Secret of userData installs the host, and reports where it is asked to", async (t) => {
  const world = await rack(t);
  const script = "#!ipxe\nkernel http://web.invalid/linux report=${slipway-succeeded}\nboot\n";
  await world.whileTimePasses(
    world.client.create(Secret, {
      metadata: { name: "own", namespace: RACK },
      stringData: { script, report: "true" },
    }),
  );
  const server = world.rack("node-1");
  await world.declare("node-1", { customDeploy: { method: "ipxe" }, userData: { name: "own" } });
  await world.reaches("node-1", "provisioned");
  await world.until("it runs", () => server.running?.is === "system" && server.running.image === "script");
  const { install } = world.provisioning.hosts.get(server.mac)!;
  assert.match(install?.result?.message ?? "", /the installer reports that it has ended/);
});

test("without a report, a host counts as installed once it has its script and asks for nothing more", async (t) => {
  const world = await rack(t, { serverFaults: { ...SOUND, mute: () => true } });
  world.pages.set("http://pool.invalid/boot/1", "#!ipxe\nsanboot http://pool.invalid/disk\n");
  await world.whileTimePasses(
    world.client.create(Secret, {
      metadata: { name: "own", namespace: RACK },
      stringData: { scriptURL: "http://pool.invalid/boot/1" },
    }),
  );
  const server = world.rack("node-1");
  await world.declare("node-1", { customDeploy: { method: "ipxe" }, userData: { name: "own" } });
  await world.reaches("node-1", "provisioned");
  assert.deepEqual(server.running, { is: "installer" });
  server.restart();
  await world.until("it starts from its disk", () => server.running?.is === "system");
  const told = JSON.stringify([await world.host("node-1"), await world.events("node-1")]);
  assert.doesNotMatch(told, /pool\.invalid/, "who has the address may have the script");
});

test("a failure that is reported is an error, and the host is installed again", async (t) => {
  let failures = 1;
  const failure = (order: string) =>
    order === "install" && failures-- > 0 ? "the mirror\n does not answer" : undefined;
  const world = await rack(t, { serverFaults: { ...SOUND, failure } });
  const server = world.rack("node-1");
  await profile(world, "system", PROFILES.kickstart);
  await world.declare("node-1", { customDeploy: { method: "kickstart/system" } });
  await world.until("it is an error", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  const { status } = (await world.host("node-1"))!;
  assert.equal(status?.errorType, "provisioning error");
  assert.match(status?.errorMessage ?? "", /the installer reports that it has failed: the mirror does not answer/);
  await world.reaches("node-1", "provisioned");
  await world.until("it runs", () => server.running?.is === "system" && server.running.image === "kickstart");
});

test("N33 an installer that reports nothing is given up after two hours, visibly, and started again", async (t) => {
  let isMute = true;
  const world = await rack(t, { serverFaults: { ...SOUND, mute: (order) => order === "install" && isMute } });
  world.rack("node-1");
  await profile(world, "system", PROFILES.preseed);
  await world.declare("node-1", { customDeploy: { method: "preseed/system" } });
  await world.until("it waits for the report", async () => {
    const { status } = (await world.host("node-1"))!;
    return status?.waitingFor === "the installer to report its end" && status.deadline !== undefined;
  });
  await world.until("it is an error", async () => (await world.host("node-1"))?.status?.errorCount === 1, 180 * MINUTE);
  // Its next try may be under way: the event stays.
  const events = (await world.events("node-1")).join("\n");
  assert.match(events, /InstallationFailed: no end of the installation was reported in 2 hours/);
  isMute = false;
  await world.reaches("node-1", "provisioned");
});

test("a host without a BMC whose power is cut in its installer comes back in the agent, and is installed again", async (t) => {
  let cuts = 1;
  const world = await rack(t, { serverFaults: { ...SOUND, powerCut: (order) => order === "install" && cuts-- > 0 } });
  const server = world.rack("node-1");
  await profile(world, "system", PROFILES.autoinstall);
  await world.declare("node-1", { bmc: false, customDeploy: { method: "autoinstall/system" } });
  server.on();
  await world.until("it is an error", async () =>
    /started from the network again/.test((await world.host("node-1"))?.status?.errorMessage ?? ""),
  );
  await world.reaches("node-1", "provisioned");
  await world.until("it runs", () => server.running?.is === "system" && server.running.image === "autoinstall");
});

test("files and reports are the machine's alone, each file once; nobody else learns their addresses", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  const other = world.rack("node-2");
  await profile(world, "system", PROFILES.preseed);
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const asked: { url: string; method: "GET" | "POST" }[] = [];
  const { web } = world.network;
  world.network.web = async (request) => {
    const { url, method } = request;
    asked.push({ url, method: method as "GET" });
    const from = (remote: string) => web({ ...request, remote });
    assert.equal((await from(other.address)).status, 404, `${method} by another machine`);
    assert.equal((await from("10.20.99.99")).status, 404, `${method} by nobody`);
    const answer = await web(request);
    if (method === "GET") await world.clock.sleep(3 * MINUTE, request.signal);
    if (method === "GET") assert.equal((await web(request)).status, 410, "a second time");
    return answer;
  };
  await world.change("node-1", { spec: { customDeploy: { method: "preseed/system" } } });
  await world.reaches("node-1", "provisioned");
  assert.deepEqual(
    asked.map(({ method }) => method),
    ["GET", "POST"],
  );
  assert.equal((await web({ ...asked[0]!, headers: {}, remote: server.address })).status, 404, "after the end");
  const { items } = await world.whileTimePasses(world.client.list(Event));
  const told = JSON.stringify([await world.hosts(), items]);
  assert.doesNotMatch(told, /slc_|\$6\$/);
  assert.match(told, /asked for once more|is not shown to be the machine/);
});

test("a wrong profile is an error with the path of the field, and one that is mended is used", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await profile(world, "system", PROFILES.preseed.replace("name: ops", "name: root"));
  await world.declare("node-1", { customDeploy: { method: "preseed/system" } });
  const says = (pattern: RegExp) => async () => pattern.test((await world.host("node-1"))?.status?.errorMessage ?? "");
  await world.until("it says why", says(/Secret slipway-hosts\/system, profile: user\.name: must not be root/));
  const stringData = { profile: PROFILES.preseed };
  await world.whileTimePasses(
    world.client.patch(Secret, { name: "system", namespace: RACK }, { type: "merge", body: { stringData } }),
  );
  await world.reaches("node-1", "provisioned");
});

test("what can't be installed is refused with the field", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await profile(world, "system", PROFILES.preseed);
  await profile(world, "twice", PROFILES.preseed);
  const metadata = { name: "twice", namespace: RACK };
  await world.whileTimePasses(world.client.create(ConfigMap, { metadata, data: { profile: PROFILES.preseed } }));
  const own = { name: "own", namespace: RACK };
  await world.whileTimePasses(world.client.create(Secret, { metadata: own, data: { value: "" } }));
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const refusals: [object, RegExp][] = [
    [
      { customDeploy: { method: "install_coreos" } },
      /spec\.customDeploy\.method: "install_coreos" is none of preseed, /,
    ],
    [{ customDeploy: { method: "preseed/none" } }, /there is neither a Secret nor a ConfigMap slipway-hosts\/none/],
    [{ customDeploy: { method: "preseed/twice" } }, /there is a Secret and a ConfigMap slipway-hosts\/twice/],
    [{ customDeploy: { method: "ipxe" } }, /spec\.userData: the method ipxe needs a script/],
    [
      { customDeploy: { method: "preseed/system" }, userData: { name: "x" } },
      /spec\.userData: Secret .*\/x is not there/,
    ],
    [
      { customDeploy: { method: "preseed/system" }, userData: { name: "own" } },
      /spec\.userData: the installer preseed is given its profile alone/,
    ],
    [{ customDeploy: { method: "preseed/system" }, rootDeviceHints: { model: "x" } }, /no disk to install to/],
  ];
  for (const [spec, message] of refusals) {
    await world.change("node-1", { spec });
    await world.until(String(message), async () =>
      message.test((await world.host("node-1"))?.status?.errorMessage ?? ""),
    );
    await world.change("node-1", { spec: { customDeploy: null, userData: null, rootDeviceHints: null } });
    await world.reaches("node-1", "available");
  }
});

test("while a host is deprovisioned, whatever of its disks is left, it starts its installer no more", async (t) => {
  const world = await rack(t, { serverFaults: { ...SOUND, mute: () => true } });
  const server = world.rack("node-1");
  await profile(world, "system", PROFILES.preseed);
  await world.declare("node-1", { automatedCleaningMode: "disabled" });
  await world.reaches("node-1", "available");
  await world.change("node-1", { spec: { customDeploy: { method: "preseed/system" } } });
  await world.until("it installs", () => server.running?.is === "installer");
  await world.change("node-1", { spec: { customDeploy: null } });
  await world.reaches("node-1", "available");
  assert.equal(world.provisioning.hosts.bootOf(server.mac), "agent");
  const host = await world.whileTimePasses(world.client.get(BareMetalHost, { name: "node-1", namespace: RACK }));
  assert.equal(host.status?.provisioning?.customDeploy, undefined);
});

test("N33 a loader that can't fetch the kernel is given up after half an hour, and the host says what to look at", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await profile(world, "system", PROFILES.preseed.replace("web.invalid/linux", "web.invalid/missing"));
  await world.declare("node-1", { customDeploy: { method: "preseed/system" } });
  await world.until("it waits for the files", async () =>
    /the installer to fetch its files/.test((await world.host("node-1"))?.status?.waitingFor ?? ""),
  );
  await world.until("it is an error", async () => (await world.host("node-1"))?.status?.errorCount === 1, 40 * MINUTE);
  const { status } = (await world.host("node-1"))!;
  assert.match(
    status?.errorMessage ?? "",
    /none of its files in 30 minutes: its loader tries again and again; can it fetch kernel and initrd\?/,
  );
});
