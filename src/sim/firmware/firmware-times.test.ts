/** When a machine says what, second by second: no jitter, each stage with a time of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { json, plain, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { JoinRequest } from "../site/node-object.ts";
import type { Joined } from "../site/site.ts";
import { createFirmware } from "./firmware.ts";
import { shownUrl } from "./ipxe-download.ts";
import { machineNetwork } from "./metadata.ts";
import { sampleHardware } from "./sample-hardware.ts";
import { jittered, METAL_TIMINGS, NO_TIMINGS } from "./timings.ts";

const KERNEL = "https://x.test/harvester-v1.9.0-vmlinuz-amd64";
const SCRIPT = `#!ipxe
kernel ${KERNEL} ip=dhcp root=live:https://x.test/harvester-v1.9.0-rootfs-amd64.squashfs harvester.install.automatic=true harvester.scheme_version=1 harvester.install.management_interface.interfaces="hwAddr:\${net0/mac}" harvester.install.management_interface.method=dhcp harvester.install.config_url=https://metadata.platformequinix.com/userdata
boot
`;
const USER_DATA = `#cloud-config
scheme_version: 1
server_url: https://10.0.0.1:443
token: join-me
os: {hostname: own, password: hidden, labels: {rack: "7"}}
install: {mode: join, device: /dev/sdb, iso_url: "https://x.test/x.iso", role: management, cordoned: true}
`;
const TIMES = {
  postMs: 1_000,
  dhcpMs: 2_000,
  kernelMs: 4_000,
  installMs: 8_000,
  diskBootMs: 16_000,
  joinRetryMs: 32_000,
};

test("a machine takes its time at each stage, and joins with all that its configuration says", async () => {
  const clock = new VirtualClock(0);
  const said: string[] = [];
  const joins: JoinRequest[] = [];
  const answers: Joined[] = [{ is: "refused", reason: "not yet" }, { is: "joined" }];
  const hardware = sampleHardware();
  const firmware = createFirmware({
    ...{ clock, random: { fraction: () => 0.5 } as never, log: quietLog, timings: TIMES },
    http: async () => plain(200, SCRIPT),
    site: {
      join: async (request) => {
        joins.push(request);
        return answers.shift()!;
      },
      powerLost: () => assert.fail("it lost its power"),
    },
  });
  const say = ({ stage, message }: { stage: string; message: string }): void =>
    void said.push(`${clock.now() / 1000} ${stage}: ${message}`);
  firmware.fromNetwork(hardware, { scriptUrl: "https://boot.test/s", userData: USER_DATA }, say);
  await clock.run(600_000);
  const install = said.filter((line) => line.startsWith("7 installing"));
  assert.equal(install[0], "7 installing: installs Harvester 1.9.0");
  assert.deepEqual(
    said.filter((line) => !/ installing/.test(line)),
    [
      "1 dhcp: asks for an address",
      "3 script: runs its boot script",
      "3 kernel: starts the kernel",
      "15 installed: is installed and starts from its disk",
      "32 installed: can't join: not yet",
      "64 joined: has joined the cluster",
    ],
  );
  const [{ reachable, ...request } = assert.fail("it did not join")] = joins;
  assert.equal(reachable?.(), true);
  assert.deepEqual(request, {
    ...{ hostname: "own", token: "join-me", serverUrl: "https://10.0.0.1:443", labels: { rack: "7" } },
    ...{ role: "management", cordoned: true, nics: hardware.nics, machineId: hardware.id, version: "v1.9.0" },
    addresses: [
      { type: "InternalIP", address: "10.0.0.7" },
      { type: "ExternalIP", address: "198.51.100.7" },
    ],
  });

  said.length = 0;
  const from = clock.now();
  answers.push({ is: "joined" });
  firmware.fromDisk(hardware, say);
  await clock.run(600_000);
  assert.deepEqual(said, [`${from / 1000 + 17} joined: has joined the cluster`]);

  firmware.recall!(hardware, { config: {}, version: [1, 2, 0] });
  joins.length = 0;
  answers.push({ is: "joined" });
  firmware.fromDisk(hardware, say);
  await clock.run(600_000);
  const { hostname, token, serverUrl, labels, role, cordoned, version } = joins[0]!;
  assert.deepEqual(
    [hostname, token, serverUrl, labels, role, cordoned, version],
    ["pool-abcdefgh", "", "", {}, "default", false, "v1.2.0"],
  );
});

test("a machine sees its provider's metadata and the network behind it, while its ports have an address", async () => {
  let isReachable = true;
  const hardware = sampleHardware({ reachable: () => isReachable });
  const http = machineNetwork(hardware, { scriptUrl: "", userData: "mine" }, async ({ url }) => json(201, { url }));
  const ask = (url: string) => http({ method: "GET", url });
  assert.deepEqual(
    [(await ask("https://x.test/a")).status, (await ask("https://x.test/a")).body],
    [201, '{"url":"https://x.test/a"}'],
  );
  const at = "https://metadata.platformequinix.com";
  assert.deepEqual([(await ask(`${at}/userdata`)).status, (await ask(`${at}/userdata`)).body], [200, "mine"]);
  assert.equal((await ask(`${at}/other`)).status, 404);
  const address = (text: string, isPublic: boolean) => ({
    ...{ address: text, address_family: 4, public: isPublic, management: true },
  });
  assert.deepEqual(JSON.parse((await ask(`${at}/metadata`)).body), {
    ...{ id: hardware.id, hostname: "pool-abcdefgh", plan: "c3.small.x86" },
    network: {
      interfaces: [
        { name: "eth0", mac: "0c:42:a1:00:00:01", bond: "bond0" },
        { name: "eth1", mac: "0c:42:a1:00:00:02", bond: "bond0" },
      ],
      addresses: [address("198.51.100.7", true), address("10.0.0.7", false)],
    },
  });
  isReachable = false;
  await assert.rejects(ask("https://x.test/a"), { code: "Unavailable", message: /no port has an address/ });
});

test("how long a machine takes, a fifth more or less, and what of a URL is shown", () => {
  assert.deepEqual(METAL_TIMINGS, {
    ...{
      postMs: 120_000,
      dhcpMs: 8_000,
      kernelMs: 60_000,
      installMs: 360_000,
      diskBootMs: 180_000,
      joinRetryMs: 15_000,
    },
  });
  assert.deepEqual(NO_TIMINGS, {
    ...{ postMs: 0, dhcpMs: 0, kernelMs: 0, installMs: 0, diskBootMs: 0, joinRetryMs: 1_000 },
  });
  const at = (fraction: number, ms: number) => jittered(ms, { fraction: () => fraction } as never);
  assert.deepEqual([at(0, 1_000), at(0.5, 1_000), at(1, 1_000), at(1, 0), at(1, -1)], [800, 1_000, 1_200, 0, 0]);
  assert.deepEqual(
    ["no URL", "https://a.test", "https://a.test/x", "https://a.test/secret/x?y", "https://a.test/a/b/"].map(shownUrl),
    ["the URL", "https://a.test/", "https://a.test/x", "https://a.test/…/x", "https://a.test/…/b"],
  );
});
