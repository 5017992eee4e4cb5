import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Bmc } from "./bmc.ts";
import { Bmcs } from "./bmcs.ts";
import { type Ran, type Run, runProgram } from "./run-program.ts";
import { running } from "./testing.ts";

const PASSWORD = "correct horse battery";

/** A BMC as ipmitool shows it. `stubborn`: it takes orders and does nothing. */
class FakeTool {
  power = "off";
  /** The five bytes of boot parameter 5, in hexadecimal. */
  boot = "0000000000";
  stubborn = false;
  refusal: string | undefined;
  fru = " Product Manufacturer  : Example\n Product Name : R1\n Product Serial : 42\n";
  readonly runs: Run[] = [];

  readonly run = async (run: Run): Promise<Ran> => {
    this.runs.push(run);
    if (this.refusal !== undefined) return { code: 1, stdout: "", stderr: this.refusal };
    return { code: 0, stdout: this.#answer(run.args.slice(run.args.indexOf("-R") + 2).join(" ")), stderr: "" };
  };

  #answer(words: string): string {
    if (!this.stubborn) this.#carryOut(words);
    if (words === "chassis power status") return `Chassis Power is ${this.power}\n`;
    if (words === "chassis bootparam get 5") return `Boot parameter version: 1\nBoot parameter data: ${this.boot}\n`;
    if (words === "fru print 0") return this.fru;
    if (words === "mc guid") return "System GUID  : 31303043-534D-2500-90D8-7A20616E6463\nTimestamp : 1\n";
    return "";
  }

  #carryOut(words: string): void {
    const [, order] = /^chassis power (on|off|soft)$/.exec(words) ?? [];
    if (order !== undefined) this.power = order === "on" ? "on" : "off";
    const [, device, options = ""] = /^chassis bootdev (\w+)(?: options=(\S+))?$/.exec(words) ?? [];
    if (device !== undefined) {
      const flags = 0x80 | (options.includes("persistent") ? 0x40 : 0) | (options.includes("efiboot") ? 0x20 : 0);
      const selector = { pxe: 1, disk: 2 }[device] ?? 0;
      this.boot = `${flags.toString(16)}${(selector << 2).toString(16).padStart(2, "0")}000000`;
    }
  }
}

function world(): { tool: FakeTool; bmc: Bmc; run: <T>(work: Promise<T>) => Promise<T> } {
  const clock = new VirtualClock();
  const tool = new FakeTool();
  const bmc = new Bmcs({ clock, run: tool.run }).open({
    address: "ipmi://[fd00::7]:624?privilegelevel=OPERATOR",
    credentials: { username: "root", password: PASSWORD },
  });
  return { tool, bmc, run: running(clock) };
}

test("a machine is switched by IPMI, and the state is read back", async () => {
  const { tool, bmc, run } = world();
  await run(bmc.setPower("on"));
  assert.equal(await run(bmc.readPower()), "on");
  await run(bmc.setPower("soft-off"));
  await run(bmc.setPower("restart"));
  assert.equal(tool.power, "on");
});

test("a restart is an order to switch off, seen to be off, and only then one to switch on", async () => {
  const { tool, bmc, run } = world();
  await run(bmc.setPower("on"));
  tool.runs.length = 0;
  await run(bmc.setPower("restart"));
  const words = tool.runs.map(({ args }) => args.slice(args.indexOf("-R") + 2).join(" "));
  const [off, on] = [words.indexOf("chassis power off"), words.indexOf("chassis power on")];
  assert.ok(off >= 0 && words.indexOf("chassis power status", off) < on, words.join(", "));
});

test("the password is in the program's environment and nowhere on its command line", async () => {
  const { tool, bmc, run } = world();
  await run(bmc.setPower("on"));
  await run(bmc.bootFrom("pxe", { once: true, mode: "UEFI" }));
  for (const { args, env } of tool.runs) {
    assert.equal(env.IPMI_PASSWORD, PASSWORD);
    assert.doesNotMatch(args.join(" "), /battery/);
  }
  assert.deepEqual(tool.runs[0]?.args.slice(0, 11), [
    ...["-I", "lanplus", "-H", "fd00::7", "-p", "624", "-U", "root", "-L", "OPERATOR", "-E"],
  ]);
});

test("a boot device is set with its mode, and read back from the flags", async () => {
  const { tool, bmc, run } = world();
  const flags = (): string => tool.boot.slice(0, 4);
  await run(bmc.bootFrom("pxe", { once: true, mode: "UEFI" }));
  assert.equal(flags(), "a004");
  await run(bmc.bootFrom("disk", { once: false, mode: "legacy" }));
  assert.equal(flags(), "c008");
  await run(bmc.bootFrom("default", { once: false }));
  assert.match(flags(), /00$/);
  const before = tool.runs.length;
  await run(bmc.bootFrom("default", { once: false }));
  assert.equal(tool.runs.length, before + 1);
});

test("an order without effect and what IPMI does not have are different faults", async () => {
  const { tool, bmc, run } = world();
  tool.stubborn = true;
  await assert.rejects(run(bmc.setPower("on")), (error) => isFault(error, "NoEffect"));
  await assert.rejects(run(bmc.bootFrom("pxe", { once: true })), (error) => isFault(error, "NoEffect"));
  await assert.rejects(run(bmc.insertMedia("http://boot.example/a.iso")), (error) => isFault(error, "Unsupported"));
  await assert.rejects(run(bmc.bootFrom("uefi-http", { once: true })), (error) => isFault(error, "Unsupported"));
});

test("ipmitool's complaints become codes", async () => {
  const { tool, bmc, run } = world();
  for (const [refusal, code] of [
    ["Error: Unable to establish IPMI v2 / RMCP+ session", "Unavailable"],
    ["> RAKP 2 HMAC is invalid\nError: Unable to establish IPMI v2 / RMCP+ session", "BadCredentials"],
    ["> RAKP 2 message indicates an error : unauthorized name", "BadCredentials"],
    ["Set Chassis Power Control to Up/On failed: Invalid command", "Unsupported"],
  ] as const) {
    tool.refusal = refusal;
    await assert.rejects(run(bmc.readPower()), (error) => isFault(error, code), refusal);
  }
});

test("a BMC that does not say whether the machine is on is asked again later", async () => {
  const { tool, bmc, run } = world();
  tool.power = "unknown";
  await assert.rejects(run(bmc.readPower()), (error) => isFault(error, "Unavailable") && /is on/.test(error.message));
});

test("ipmitool's complaint is reported with the command that was run, cut to one line", async () => {
  const { tool, bmc, run } = world();
  tool.refusal = `first\nsecond\n${"x".repeat(1_000)}\nlast`;
  await assert.rejects(run(bmc.readPower()), (error) => {
    assert.ok(isFault(error, "Unavailable"));
    assert.match(error.message, /^ipmi:\/\/fd00::7: chassis power status: second; x+$/);
    return error.message.length < 400;
  });
});

test("a boot device whose flags are not valid is not set, and a mode that nobody asked for is of no account", async () => {
  const { tool, bmc, run } = world();
  tool.boot = "2004000000";
  await run(bmc.bootFrom("pxe", { once: true }));
  assert.equal(tool.boot.slice(0, 4), "8004");
  tool.boot = "a004000000";
  const before = tool.runs.length;
  await run(bmc.bootFrom("pxe", { once: true }));
  assert.equal(tool.runs.length, before + 1);
});

test("a boot device that a BMC shows in other words, or not at all, is not set", async () => {
  for (const device of ["pxe", "default"] as const) {
    const { tool, bmc, run } = world();
    tool.boot = "zz";
    await run(bmc.bootFrom(device, { once: true }));
    assert.ok(
      tool.runs.some(({ args }) => args.join(" ").includes("bootdev")),
      device,
    );
  }
});

test("what a BMC keeps no record of is left out of who it is", async () => {
  const { tool, bmc, run } = world();
  tool.refusal = "FRU Read failed: Invalid command";
  assert.deepEqual(await run(bmc.identity()), { macs: [], system: "" });
  tool.refusal = "Error: Unable to establish IPMI v2 / RMCP+ session";
  await assert.rejects(run(bmc.identity()), (error) => isFault(error, "Unavailable"));
});

test("a machine says by IPMI who it is", async () => {
  const { bmc, run } = world();
  assert.deepEqual(await run(bmc.identity()), {
    macs: [],
    system: "",
    manufacturer: "Example",
    model: "R1",
    serial: "42",
    uuid: "31303043-534d-2500-90d8-7a20616e6463",
  });
});

test("where the product area of the FRU is empty, board and chassis say who a machine is", async () => {
  const { tool, bmc, run } = world();
  tool.fru = " Chassis Serial : C7\n Board Mfg : Maker\n Board Product : X11\n Board Serial : B1\n";
  const { manufacturer, model, serial } = await run(bmc.identity());
  assert.deepEqual([manufacturer, model, serial], ["Maker", "X11", "C7"]);
});

test("a program is run without a shell, and one that is missing is said so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-ipmi-"));
  try {
    const program = join(folder, "tool");
    writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > '${folder}/word'\nprintf '%s' "$SECRET"\nexit 3\n`);
    chmodSync(program, 0o755);
    const ran = await runProgram({ program, args: ["$(id)"], env: { SECRET: "s" } });
    assert.deepEqual([ran.code, ran.stdout, readFileSync(join(folder, "word"), "utf8")], [3, "s", "$(id)"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const missing = runProgram({ program: "slipway-no-such-tool", args: [], env: {} });
  await assert.rejects(missing, (error) => isFault(error, "Unsupported") && /install/.test(error.advice));
});
