import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { simNetwork } from "../network.ts";
import { bootFrom, runScript } from "./ipxe.ts";
import { COMMANDS } from "./ipxe-commands.ts";
import { lineParts } from "./ipxe-line.ts";
import type { IpxeEnd, IpxeMachine } from "./ipxe-machine.ts";
import { expand, hardwareSettings } from "./ipxe-settings.ts";
import { sampleHardware } from "./sample-hardware.ts";

const HARDWARE = sampleHardware();

const BASE = "https://releases.example/v1.8.1";

function machine(pages: Record<string, string> = {}, over: Partial<IpxeMachine> = {}) {
  const clock = new VirtualClock(0);
  const network = simNetwork();
  network.serve("https://boot.example", async ({ url }) => {
    const page = pages[new URL(url).pathname];
    return page === undefined ? plain(404, "") : plain(200, page);
  });
  const said: string[] = [];
  const ipxe: IpxeMachine = {
    clock,
    http: network.http,
    signal: new AbortController().signal,
    settings: hardwareSettings(HARDWARE),
    dhcp: true,
    say: (line) => said.push(line),
    ...over,
  };
  /** Runs virtual time until the promise has a value. */
  const until = async (promise: Promise<IpxeEnd>): Promise<IpxeEnd> => {
    let end: IpxeEnd | undefined;
    promise.then(
      (value) => {
        end = value;
      },
      () => {},
    );
    await clock.run(3_600_000, () => end !== undefined);
    return end ?? promise;
  };
  return { ipxe, said, until, clock };
}

const run = (script: string, over: Partial<IpxeMachine> = {}): Promise<IpxeEnd> => {
  const { ipxe, until } = machine({}, over);
  return until(runScript(script, ipxe));
};

test("a Harvester boot script yields kernel, initrd and arguments with the NIC's address filled in", async () => {
  const end = await run(`#!ipxe
# the installer for one boot
dhcp
sleep 5
set base ${BASE}
kernel \${base}/harvester-v1.8.1-vmlinuz-amd64 initrd=harvester-v1.8.1-initrd-amd64 ip=dhcp harvester.install.automatic=true harvester.install.management_interface.interfaces="hwAddr:\${netX/mac}"
initrd \${base}/harvester-v1.8.1-initrd-amd64
boot`);

  assert.deepEqual(end, {
    is: "boots",
    kernel: `${BASE}/harvester-v1.8.1-vmlinuz-amd64`,
    args: 'initrd=harvester-v1.8.1-initrd-amd64 ip=dhcp harvester.install.automatic=true harvester.install.management_interface.interfaces="hwAddr:0c:42:a1:00:00:01"',
    initrds: [{ name: "harvester-v1.8.1-initrd-amd64", url: `${BASE}/harvester-v1.8.1-initrd-amd64` }],
  });
});

test("a script that branches on the NIC in use takes the label of that NIC", async () => {
  const script = `#!ipxe
dhcp
goto \${ifname}
:net0
set address \${net0/mac}
goto go
:net1
set address \${net1/mac}
:go
kernel ${BASE}/vmlinuz mac=\${address}
boot`;
  const end = await run(script, { settings: hardwareSettings(HARDWARE, { linked: 1 }) });
  assert.equal(end.is === "boots" && end.args, "mac=0c:42:a1:00:00:02");
});

/** What the commands of one line do: the text said shows which of them ran. */
const LINES: [line: string, said: string[], ok: boolean][] = [
  ["echo a && echo b", ["a", "b"], true],
  ["isset ${nothing} || echo b", ["isset: not set", "b"], true],
  ["isset ${nothing} && echo a", ["isset: not set"], false],
  ["isset ${nothing} && echo a ||", ["isset: not set"], true],
  ["isset ${mac} && echo a || echo b", ["a"], true],
  ["iseq ${platform} efi && echo uefi || echo bios", ["uefi"], true],
  ["iseq ${platform} pcbios && echo bios || echo uefi", ["iseq: not equal", "uefi"], true],
  ["isset ${nothing} ; echo c", ["isset: not set", "c"], true],
  ["echo a # && echo b", ["a"], true],
  ["wibble", ["wibble: command not found"], false],
  ["wibble ||", ["wibble: command not found"], true],
  ["set a 1 && inc a 2 && echo ${a}", ["3"], true],
  ["set a 1 && clear a && isset ${a} || echo gone", ["isset: not set", "gone"], true],
  ["set n mac && echo ${net0/${n}}", ["0c:42:a1:00:00:01"], true],
  ["echo ${net1/mac:hexhyp} ${uuid}", ["0c-42-a1-00-00-02 7f8a1c52-0000-4000-8000-000000000001"], true],
];
for (const [line, said, ok] of LINES) {
  test(`line: ${line}`, async () => {
    const { ipxe, said: seen, until } = machine();
    const end = await until(runScript(`#!ipxe\n${line}\n`, ipxe));
    assert.deepEqual(seen, said);
    assert.equal(end.is, ok ? "exit" : "failed");
  });
}

const ENDS: [script: string, is: IpxeEnd["is"]][] = [
  ["shell", "shell"],
  ["prompt press a key", "shell"],
  ["reboot", "reboot"],
  ["poweroff", "poweroff"],
  ["sanboot --no-describe --drive 0x80", "disk"],
  ["exit", "exit"],
  ["exit 1", "failed"],
  ["exit 1 || shell", "failed"],
  ["prompt --timeout 2000 || shell", "shell"],
  ["goto nowhere", "failed"],
  ["goto nowhere || shell", "failed"],
  ["boot", "failed"],
];
for (const [script, is] of ENDS) {
  test(`a script of "${script}" ends as ${is}`, async () => {
    assert.equal((await run(`#!ipxe\n${script}`)).is, is);
  });
}

test("chain runs the other script and comes back; --replace does not come back", async () => {
  const pages = { "/inner": "#!ipxe\necho inner\nset x 1" };
  const back = machine(pages);
  await back.until(runScript("#!ipxe\nchain https://boot.example/inner\necho outer ${x}", back.ipxe));
  assert.deepEqual(back.said, ["inner", "outer 1"]);

  const gone = machine(pages);
  await gone.until(runScript("#!ipxe\nchain --autofree --replace https://boot.example/inner\necho outer", gone.ipxe));
  assert.deepEqual(gone.said, ["inner"]);
});

test("a failed chain goes on behind ||, and relative addresses start at the script's own", async () => {
  const { ipxe, until } = machine({
    "/a/first": "#!ipxe\nchain missing || chain ../b/second",
    "/b/second": "#!ipxe\nkernel vmlinuz quiet\nboot",
  });
  const end = await until(bootFrom("https://boot.example/a/first", ipxe));
  assert.deepEqual(end, { is: "boots", kernel: "https://boot.example/b/vmlinuz", args: "quiet", initrds: [] });
});

test("a script may hold a machine for hours, asking again every minute, until it is let go", async () => {
  let asked = 0;
  const { ipxe, until, clock } = machine(
    {},
    {
      http: async () =>
        plain(200, asked++ < 30 ? "#!ipxe\nsleep 60\nchain --replace https://boot.example/hold" : "#!ipxe\npoweroff"),
    },
  );
  assert.equal((await until(bootFrom("https://boot.example/hold", ipxe))).is, "poweroff");
  assert.equal(clock.now(), 30 * 60_000);
});

test("a script that never pauses is stopped", async () => {
  const end = await run("#!ipxe\n:again\ngoto again");
  assert.match(end.is === "failed" ? end.message : "", /never ends/);
});

test("scripts that chain each other without end are stopped", async () => {
  const { ipxe, until } = machine({ "/loop": "#!ipxe\nchain loop" });
  const end = await until(bootFrom("https://boot.example/loop", ipxe));
  assert.match(end.is === "failed" ? end.message : "", /too many scripts/);
});

const REFUSED: [name: string, url: string, over: Partial<IpxeMachine>, message: RegExp][] = [
  ["a missing script", "https://boot.example/a/secret/ipxe", {}, /^https:\/\/boot.example\/…\/ipxe\.\.\. No such file/],
  ["an unknown host", "https://nowhere.example/ipxe", {}, /does not resolve/],
  ["a page that is no script", "https://boot.example/page", {}, /Exec format error/],
  ["https in a build without it", "https://boot.example/ok", { tls: "none" }, /without HTTPS/],
  ["a certificate it can't verify", "https://boot.example/ok", { tls: { distrusts: () => true } }, /not trusted/],
  ["a scheme it does not speak", "gopher://boot.example/ok", {}, /Operation not supported/],
];
for (const [name, url, over, message] of REFUSED) {
  test(`${name} fails with what a person would see, without the address's secrets`, async () => {
    const { ipxe, until } = machine({ "/page": "<html>", "/ok": "#!ipxe" }, over);
    const end = await until(bootFrom(url, ipxe));
    assert.match(end.is === "failed" ? end.message : end.is, message);
    assert.ok(end.is === "failed" && !end.message.includes("secret"));
  });
}

test("a kernel that does not exist fails its command", async () => {
  const end = await run(`#!ipxe\nkernel ${BASE}/vmlinuz || shell`, { imageExists: () => false });
  assert.equal(end.is, "shell");
});

test("without DHCP there is no boot", async () => {
  const end = await run("#!ipxe\ndhcp\nshell", { dhcp: false });
  assert.match(end.is === "failed" ? end.message : "", /No configuration methods succeeded/);
});

test("the power switch ends a script that sleeps", async () => {
  const power = new AbortController();
  const { ipxe } = machine({}, { signal: power.signal });
  const running = runScript("#!ipxe\nsleep 100", ipxe);
  power.abort(new Error("power cut"));
  await assert.rejects(running, /power cut/);
});

test("a line split into commands keeps every token, in order", () => {
  const token = fc.constantFrom("echo", "a", "||", "&&", ";", "${x}", "b");
  fc.assert(
    fc.property(fc.array(token), (tokens) => {
      const back = lineParts(tokens.join("  ")).flatMap((p) => [...p.tokens, ...(p.joint === "end" ? [] : [p.joint])]);
      assert.deepEqual(back, tokens);
    }),
  );
});

test("expansion ends for any text, and leaves text without settings alone", () => {
  const settings = hardwareSettings(HARDWARE);
  settings.set("loop", "${loop}");
  assert.equal(expand("${loop}", settings), "${loop}");
  fc.assert(
    fc.property(fc.array(fc.constantFrom("${", "}", "mac", "loop", "x", " ", "$", "{")), (parts) => {
      const text = parts.join("");
      const out = expand(text, settings);
      if (!text.includes("${") || !text.includes("}")) assert.equal(out, text);
    }),
  );
});

test("any text is a script that ends, if it is one at all", async () => {
  const word = fc.constantFrom(
    "echo",
    "set",
    "goto",
    "a",
    "&&",
    "||",
    "isset",
    "${a}",
    "chain",
    "boot",
    "\n",
    ":a",
    "#",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
      const end = await run(`#!ipxe\n${words.join(" ")}`);
      assert.ok(end.is.length > 0);
    }),
    { numRuns: 60 },
  );
});

test("a value that doubles itself, and expansions that feed each other, stay small", async () => {
  const doubling = `#!ipxe\nset a xxxxxxxx\n${"set a ${a}${a}\n".repeat(40)}`;
  const end = await run(doubling);
  assert.match(end.is === "failed" ? end.message : "", /Out of memory/);
  const settings = hardwareSettings(HARDWARE);
  settings.set("a", "{a}$$");
  assert.equal(expand(`$\${a}${"{a}".repeat(40)}`, settings), `$\{a}$$${"{a}".repeat(40)}`);
});

test("sleeping for nothing is no pause: such a loop ends", async () => {
  for (const script of ["#!ipxe\n:a\nsleep 0\ngoto a", "#!ipxe\n:a\nprompt --timeout 0 || goto a"]) {
    const end = await run(script);
    assert.match(end.is === "failed" ? end.message : "", /never pauses/);
  }
  assert.equal((await run("#!ipxe\nprompt --timeout soon || shell")).is, "shell");
});

test("any script whatever ends within bounds: commands, bytes, loops over chained scripts", async () => {
  const name = fc.constantFrom(...Object.keys(COMMANDS));
  const argument = fc.oneof(
    fc.constantFrom(
      "${a}",
      "${${a}}",
      "a",
      "x",
      "--replace",
      "--timeout",
      "--name",
      "-",
      "=",
      "0",
      "1",
      "||",
      "&&",
      ";",
    ),
    fc.constantFrom(
      "https://boot.example/self",
      "https://boot.example/none",
      "self",
      "vmlinuz",
      "http://",
      "tftp://x/y",
    ),
    fc.string({ maxLength: 8 }),
  );
  const label = fc.constantFrom(":a", ":x", ":0");
  const line = fc.oneof(
    fc.tuple(name, fc.array(argument, { maxLength: 4 })).map(([command, args]) => [command, ...args].join(" ")),
    label,
    fc.string({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 25 }), async (lines) => {
      const script = `#!ipxe\n${lines.join("\n")}`;
      const power = new AbortController();
      const { ipxe, clock } = machine({ "/self": script }, { signal: power.signal });
      const running = runScript(script, ipxe, "https://boot.example/self");
      let ended = false;
      running.then(
        () => {
          ended = true;
        },
        () => {
          ended = true;
        },
      );
      await clock.run(120_000, () => ended);
      power.abort(new Error("power cut"));
      await running.catch(() => {});
      assert.equal(clock.pending, 0);
    }),
    { numRuns: 300 },
  );
});
