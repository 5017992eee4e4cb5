import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import type { HttpAnswer } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { grubScript } from "../grub/script.ts";
import type { HostChange, NextBoot } from "../hosts/host.ts";
import { type Presence, plainAddress } from "../hosts/presence.ts";
import type { InstallerStart } from "../http/installers.ts";
import { bootScripts } from "./boot-scripts.ts";
import { nextGrubScript } from "./grub-scripts.ts";
import type { BootingMachine } from "./machine.ts";

const MAC = "52:54:00:00:00:01";
const SECOND_CARD = "52:54:00:00:00:11";
const HOST = { name: "host", mac: MAC, firstSeen: 0, lastSeen: 0, boot: "agent" } as const;
const URL_OF = {
  ipxe: "http://192.0.2.1:8080/boot/52-54-00-00-00-01.ipxe?arch=x86_64&platform=efi",
  bios: "http://192.0.2.1:8080/boot/52-54-00-00-00-01.ipxe?arch=i386&platform=pcbios",
  // GRUB says no port, whatever it connected to.
  grub: "http://192.0.2.1/boot/52:54:00:00:00:01.grub?arch=arm64&platform=efi",
};

function world(actions: Record<string, NextBoot> = {}) {
  const clock = new VirtualClock();
  const listeners = new Set<(change: HostChange) => void>();
  const served: [BootingMachine, NextBoot][] = [];
  const first = new Set<string>();
  const starts = new Map<string, InstallerStart>();
  const addresses: Record<string, string> = { "192.0.2.9": MAC };
  const handler = bootScripts({
    hosts: {
      bootOf: (mac) => actions[mac] ?? "agent",
      get: (mac) => (mac === MAC ? { ...HOST, macs: [MAC, SECOND_CARD] } : undefined),
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    base: () => "http://192.0.2.1:8080",
    agentBoot: ({ architecture, mac }) => ({
      kernel: `http://192.0.2.1:8080/agent/${architecture}/vmlinuz`,
      initrd: `http://192.0.2.1:8080/agent/${architecture}/initrd`,
      commandLine: ["slipway.url=http://192.0.2.1:8080", `slipway.boot=for-${mac}`],
    }),
    presences: {
      of(remote): Presence {
        const address = plainAddress(remote);
        const mac = addresses[address];
        if (mac !== undefined) return { is: "proven", mac, address };
        return address.startsWith("203.0.113.")
          ? { is: "foreign", address }
          : { is: "refused", address, because: "it has no lease" };
      },
    },
    clock,
    installers: { isReady: (mac) => starts.has(mac), startOf: (mac) => starts.get(mac) },
    nothingOnDisk: (mac) => first.size < first.add(mac).size,
    served: (machine, action) => void served.push([machine, action]),
  });
  return {
    clock,
    served,
    starts,
    listeners,
    get: (
      url: string,
      { remote = "192.0.2.9", method = "GET" as "GET" | "HEAD", signal = new AbortController().signal } = {},
    ) => handler({ method, url, remote, signal }),
    setBoot(mac: string, action: NextBoot) {
      actions[mac] = action;
      for (const listener of listeners) listener({ is: "gone", name: "x" });
    },
  };
}

test("N18 a machine that nobody knows gets the usual action: the agent, with a capability of its own", async () => {
  const { get, served } = world();
  const answer = await get(URL_OF.bios);

  assert.equal(answer.status, 200);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.equal(
    answer.body,
    `#!ipxe
echo Slipway: starting the agent
kernel http://192.0.2.1:8080/agent/x86_64/vmlinuz initrd=initrd slipway.url=http://192.0.2.1:8080 slipway.boot=for-${MAC} || goto again
initrd --name initrd http://192.0.2.1:8080/agent/x86_64/initrd || goto again
boot || goto again
:again
imgfree
sleep 5
chain --autofree --replace ${URL_OF.bios} || goto again
`,
  );
  assert.deepEqual(served, [[{ mac: MAC, address: "192.0.2.9", architecture: "x86_64", firmware: "bios" }, "agent"]]);
});

test("N12 GRUB gets the same in its language, for the architecture it says", async () => {
  const { get } = world();

  assert.equal(
    (await get(URL_OF.grub)).body,
    `set answered='yes'
echo 'Slipway: starting the agent'
if linux '(http,192.0.2.1:8080)/agent/aarch64/vmlinuz' 'slipway.url=http://192.0.2.1:8080' 'slipway.boot=for-${MAC}'; then
  if initrd '(http,192.0.2.1:8080)/agent/aarch64/initrd'; then
    boot
  fi
fi
`,
  );
});

test("GRUB starts a packed kernel where nothing checks signatures, and the plain one with Secure Boot or where the packed one is missing", () => {
  const agent = { kernel: "http://192.0.2.1/k", packedKernel: "http://192.0.2.1/k.gz", initrd: "http://192.0.2.1/i" };

  assert.equal(
    grubScript(nextGrubScript({ action: "agent", agent: { ...agent, commandLine: ["a=1"] } }, "http://192.0.2.1/self")),
    `set answered='yes'
echo 'Slipway: starting the agent'
if test "\${lockdown}" = 'y'; then
  true
else
  if linux '(http,192.0.2.1)/k.gz' 'a=1'; then
    if initrd '(http,192.0.2.1)/i'; then
      boot
    fi
  fi
fi
if linux '(http,192.0.2.1)/k' 'a=1'; then
  if initrd '(http,192.0.2.1)/i'; then
    boot
  fi
fi
`,
  );
});

test("N3 the script of one machine is given to no other, and to nobody who can't be distinguished", async () => {
  const { get, served } = world();
  const other = URL_OF.ipxe.replace("00-01", "00-02");

  assert.deepEqual(
    [(await get(other)).status, (await get(URL_OF.ipxe, { remote: "::ffff:192.0.2.9" })).status],
    [403, 200],
  );
  assert.doesNotMatch((await get(other)).body, /slipway\.boot/);
  assert.equal((await get(URL_OF.ipxe.replace("00-01", "00-11"))).status, 200, "its own other card");
  const stranger = await get(other, { remote: "198.51.100.7" });
  assert.deepEqual([stranger.status, stranger.body], [403, "198.51.100.7: it has no lease\n"]);
  // In a foreign network behind routers there is nothing but the claim.
  assert.equal((await get(other, { remote: "203.0.113.7" })).status, 200);
  assert.deepEqual(
    served.map(([{ mac }]) => mac),
    [MAC, MAC, "52:54:00:00:00:02"],
  );
});

test("a machine that is to boot from disk leaves the loader; one with a script of the user's gets that", async () => {
  const { get, setBoot } = world({ [MAC]: "disk" });

  assert.match((await get(URL_OF.ipxe)).body, /\nexit 1\n$/);
  assert.match((await get(URL_OF.grub)).body, /\nexit\n$/);
  setBoot(MAC, { chain: "http://192.0.2.77/mine" });
  assert.match(
    (await get(URL_OF.ipxe)).body,
    /\nchain --autofree --replace http:\/\/192.0.2.77\/mine \|\| goto again\n/,
  );
  assert.match((await get(URL_OF.grub)).body, /\nconfigfile '\(http,192.0.2.77\)\/mine'\n$/);
  setBoot(MAC, { chain: "https://192.0.2.77/mine" });
  assert.match((await get(URL_OF.grub)).body, /\necho 'Slipway: GRUB can'\\''t fetch https:/);
});

test("a machine on whose disks GRUB found nothing starts again, and leaves GRUB when that was of no use", async () => {
  const { get } = world({ [MAC]: "disk" });

  assert.match((await get(URL_OF.grub)).body, /\n {2}if chainloader '\/EFI\/BOOT\/BOOTX64.EFI'; then\n/);
  assert.match((await get(URL_OF.grub)).body, /\nsource '\(http,192.0.2.1:8080\)\S+&disk=none'\nexit\n$/);
  assert.match((await get(`${URL_OF.grub}&disk=none`)).body, /\nreboot\n$/);
  assert.equal((await get(`${URL_OF.grub}&disk=none`)).body, "exit\n");
});

const INSTALLER: InstallerStart = {
  is: "kernel",
  kernel: "http://deb.test/linux",
  initrd: "http://deb.test/initrd.gz",
  commandLine: ["auto=true", "ds=nocloud;s=http://192.0.2.1:8080/install/slc_x/1/"],
};
const SCRIPT: InstallerStart = {
  is: "script",
  url: "http://192.0.2.1:8080/install/slc_x/1/script.ipxe",
  settings: { "slipway-succeeded": "http://192.0.2.1:8080/install/slc_x/1/succeeded" },
};

test("an installer's kernel is started by either loader as the agent's is", async () => {
  const { get, starts } = world({ [MAC]: "installer" });
  starts.set(MAC, INSTALLER);
  assert.equal(
    (await get(URL_OF.ipxe)).body,
    `#!ipxe
echo Slipway: starting the installer of this machine
kernel http://deb.test/linux initrd=initrd auto=true ds=nocloud;s=http://192.0.2.1:8080/install/slc_x/1/ || goto again
initrd --name initrd http://deb.test/initrd.gz || goto again
boot || goto again
:again
imgfree
sleep 5
chain --autofree --replace ${URL_OF.ipxe}&again=1 || goto again
`,
  );
  assert.equal(
    (await get(URL_OF.grub)).body,
    `set answered='yes'
echo 'Slipway: starting the installer of this machine'
if linux '(http,deb.test)/linux' 'auto=true' 'ds=nocloud;s=http://192.0.2.1:8080/install/slc_x/1/'; then
  if initrd '(http,deb.test)/initrd.gz'; then
    boot
  fi
fi
`,
  );
});

test("a script of the user's is iPXE's, which GRUB starts for it, of the machine's architecture", async () => {
  const { get, starts } = world({ [MAC]: "installer" });
  starts.set(MAC, SCRIPT);
  assert.match(
    (await get(URL_OF.ipxe)).body,
    /\nset slipway-succeeded http:\S+\/succeeded\nchain --autofree --replace http:\S+script.ipxe \|\| goto again\n/,
  );
  const { body } = await get(URL_OF.grub);
  assert.match(
    body,
    /\nset root='http,192.0.2.1'\nif chainloader '\(http,192.0.2.1:8080\)\/ipxe-arm64.efi'; then\n {2}boot\nfi\nset root='hd0'\nif chainloader '\S+\/ipxe-arm64.efi'; then\n {2}boot\nfi\necho 'Slipway: iPXE does/,
  );
  assert.doesNotMatch(body, /script\.ipxe/);
  assert.match(
    (await get(URL_OF.grub.replace("arm64", "x86_64"))).body,
    /\/snponly.efi'[\s\S]*'hd0'\n[^\n]*\/ipxe.efi'/,
  );
});

test("a machine whose installer is not known yet waits for it; a HEAD request starts nothing", async () => {
  const { get, starts, setBoot, served } = world({ [MAC]: "installer" });
  assert.match((await get(URL_OF.ipxe)).body, /&wait=1/);
  let body = "";
  const waiting = get(`${URL_OF.ipxe}&wait=1`).then((answer) => {
    body = String(answer.body);
  });
  await Promise.resolve();
  assert.equal(body, "");
  starts.set(MAC, INSTALLER);
  setBoot(MAC, "installer");
  await waiting;
  assert.match(body, /\nkernel http:\/\/deb\.test/);
  const before = served.length;
  assert.match((await get(URL_OF.ipxe, { method: "HEAD" })).body, /&wait=1/);
  assert.equal(served.length, before);
});

test("N23 a machine without work waits in the loader and learns of work at once, without a restart", async () => {
  const { get, setBoot, listeners } = world({ [MAC]: "wait" });
  const first = await get(URL_OF.ipxe);
  assert.match(first.body, /\nchain --autofree --replace --timeout 90000 http:\S+&wait=1 \|\| goto again\n/);
  assert.doesNotMatch(first.body, /\n(exit|reboot|kernel)/);

  let answer: HttpAnswer | undefined;
  const waiting = get(`${URL_OF.ipxe}&wait=1`).then((a) => {
    answer = a;
  });
  await new Promise(setImmediate);
  assert.equal(answer, undefined);
  setBoot(MAC, "agent");
  await waiting;

  assert.match(answer!.body, /\nkernel /);
  assert.equal(listeners.size, 0);
});

test("N23 a wait ends before the loader's patience, and when the machine disconnects", async () => {
  const { clock, get, listeners } = world({ [MAC]: "wait" });
  let answered = false;
  const waiting = get(`${URL_OF.ipxe}&wait=1`).then(() => {
    answered = true;
  });
  await clock.run(49_999);
  assert.equal(answered, false);
  await clock.run(1);
  assert.equal(answered, true);
  await waiting;

  const gone = new AbortController();
  const left = get(`${URL_OF.ipxe}&wait=1`, { signal: gone.signal });
  gone.abort();
  await left;
  assert.equal(listeners.size, 0);
});

test("what is no script's address is answered 404, other methods 405", async () => {
  const { get } = world();
  for (const path of [
    "/boot/52-54-00-00-00-01.ipxe",
    "/boot/52-54-00-00-00-01.ipxe?arch=mips&platform=efi",
    "/boot/52-54-00-00-00-01.ipxe?arch=constructor&platform=toString",
    "/boot/52-54-00-00-00.ipxe?arch=i386&platform=efi",
    "/boot/52-54-00-00-00-01.sh?arch=i386&platform=efi",
    "/boot/../etc/passwd",
    `/boot/52-54-00-00-00-01.ipxe?arch=i386&platform=efi&${"x".repeat(600)}`,
    "/",
  ])
    assert.equal((await get(`http://192.0.2.1${path}`)).status, 404, path);
  assert.equal((await get(URL_OF.ipxe, { method: "POST" as "GET" })).status, 405);
});

test("what GRUB gets is GRUB's language, whatever becomes of the machine", async (t) => {
  if (spawnSync("grub-script-check", ["--version"]).error)
    return t.skip("grub-script-check is not installed (Debian: grub-common)");
  const check = (body: string): void => {
    const { status, stderr } = spawnSync("grub-script-check", { input: body, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""], body);
  };
  for (const start of [INSTALLER, SCRIPT]) {
    const { get, starts } = world({ [MAC]: "installer" });
    starts.set(MAC, start);
    check((await get(URL_OF.grub)).body);
  }
  for (const action of ["agent", "disk", "wait", { chain: "http://192.0.2.77/it's-mine" }] as const) {
    check((await world({ [MAC]: action }).get(URL_OF.grub)).body);
  }
});
