/** What each of iPXE's commands says and does, with each of its options and usages. ` / ` stands for the end of a line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { runScript } from "./ipxe.ts";
import { COMMANDS } from "./ipxe-commands.ts";
import { hardwareSettings } from "./ipxe-settings.ts";
import { sampleHardware } from "./sample-hardware.ts";

/** Status, body and Location. */
const PAGES: Readonly<Record<string, readonly [number, string, string?]>> = {
  "/inner": [200, "#!ipxe\necho inner"],
  "/gpxe": [200, "#!gpxe\nset y 1"],
  "/fails": [200, "#!ipxe\nexit 1"],
  "/menu": [200, "#!ipxe\nkernel vmlinuz menu\necho chosen"],
  "/other": [200, "#!ipxe\necho other"],
  "/page": [200, "<html>"],
  ...{ "/forbidden": [403, ""], "/login": [401, ""], "/gone": [410, ""], "/broken": [500, ""] },
  ...{ "/moved": [302, "", "/inner"], "/chosen": [300, "", "/inner"], "/nowhere": [302, ""] },
  ...{ "/cached": [304, "", "/inner"], "/round": [301, "", "/round"], "/late": [400, "", "/inner"] },
};

/** What is printed, how it ends, and how long it took. */
async function outcome(script: string, dhcp = true): Promise<string> {
  const clock = new VirtualClock(0);
  const said: string[] = [];
  let isDone = false;
  const running = runScript(
    `#!ipxe\n${script.replaceAll(" / ", "\n")}`,
    {
      http: async ({ url }) => {
        const [status, body, location] = PAGES[new URL(url).pathname] ?? [404, ""];
        return plain(status, body, location === undefined ? {} : { location });
      },
      ...{ clock, dhcp, signal: new AbortController().signal },
      ...{ settings: hardwareSettings(sampleHardware()), say: (line) => void said.push(line) },
    },
    "http://boot.test/a/first",
  ).finally(() => {
    isDone = true;
  });
  await clock.run(3_600_000, () => isDone);
  const end = await running;
  if (end.is === "failed") said.push(`failed: ${end.message}`);
  else if (end.is === "boots") {
    const initrds = end.initrds.map(({ name, url }) => `${name}=${url}`).join(" ");
    said.push(`boots ${end.kernel} (${end.args}) ${initrds}`.trim());
  } else said.push(end.is);
  return [...said, ...(clock.now() > 0 ? [`after ${clock.now()} ms`] : [])].join(" / ");
}

const OUTCOMES: Readonly<Record<string, string>> = {
  "dhcp / ifconf / iflinkwait / ifopen / ifclose / ifstat / route / console / colour / cpair / ntp / imgtrust / shell":
    "shell",
  "cpuid / shell": "cpuid: Operation not supported / failed: cpuid: Operation not supported",
  "cpuid --ext 29 / shell": "shell",
  "set / shell": "Usage: set <setting> [<value>...] / failed: Usage: set <setting> [<value>...]",
  "set x a  b / echo ${x} ${mac} / set mac:hex 1 / echo ${mac} / set x / echo [${x}]":
    "a b 0c:42:a1:00:00:01 / 1 / [] / exit",
  "clear / shell": "Usage: clear <setting> / failed: Usage: clear <setting>",
  "clear hostname / echo [${hostname}]": "[] / exit",
  "inc / shell": "Usage: inc <setting> [<increment>] / failed: Usage: inc <setting> [<increment>]",
  "inc n / inc n 5 / echo ${n} / inc n -2 / echo ${n}": "6 / 4 / exit",
  "isset || echo none / isset ${hostname} && echo some": "isset: not set / none / some / exit",
  isset: "isset: not set / failed: isset: not set",
  "iseq a || echo one": "Usage: iseq <value1> <value2> / one / exit",
  "iseq a b c || echo three": "Usage: iseq <value1> <value2> / three / exit",
  "iseq a b || echo other": "iseq: not equal / other / exit",
  "iseq a a && echo same": "same / exit",
  iseq: "Usage: iseq <value1> <value2> / failed: Usage: iseq <value1> <value2>",
  "echo -n a   b # c": "a b / exit",
  echo: " / exit",
  "show || echo none": "show:  not found / none / exit",
  "show hostname && echo there": "there / exit",
  "show nothing": "show: nothing not found / failed: show: nothing not found",
  "sleep || echo how long": "Usage: sleep <length> / how long / exit",
  "sleep x || echo how long": "Usage: sleep <length> / how long / exit",
  "sleep 0 / echo on": "on / exit",
  "sleep 1 / echo on": "on / exit / after 1000 ms",
  "sleep 90": "exit / after 90000 ms",
  "prompt / echo pressed": "shell",
  "prompt --timeout soon || echo wrong": "Usage: prompt [--key <key>] [--timeout <ms>] [<text>] / wrong / exit",
  "prompt --key 0x02 --timeout 2500 Press || echo nobody":
    "prompt: Connection timed out: no key was pressed / nobody / exit / after 2500 ms",
  "prompt -k x -t 5":
    "prompt: Connection timed out: no key was pressed / failed: prompt: Connection timed out: no key was pressed / after 5 ms",
  "prompt --timeout 0":
    "prompt: Connection timed out: no key was pressed / failed: prompt: Connection timed out: no key was pressed",
  "goto || echo where": "Usage: goto <label> / where / exit",
  "goto nowhere": "failed: goto nowhere: No such file or directory: the script has no such label",
  "goto end / echo skipped / :end / echo end": "end / exit",
  "exit / echo never": "exit",
  "exit 0 / echo never": "exit",
  "shell / echo never": "shell",
  "reboot / echo never": "reboot",
  "poweroff / echo never": "poweroff",
  "sanboot --drive 0x80 / echo never": "disk",
  "no-such": "no-such: command not found / failed: no-such: command not found",
  chain: "chain: no URI given / failed: chain: no URI given",
  "chain --what x": 'chain: Unrecognised option "--what" / failed: chain: Unrecognised option "--what"',
  "chain --replace": "chain: no URI given / failed: chain: no URI given",
  "chain http://": "chain: http://: Invalid argument / failed: chain: http://: Invalid argument",
  "chain ftp://x/y":
    "chain: ftp://x/y... Operation not supported / failed: chain: ftp://x/y... Operation not supported",
  "chain ../inner / echo back": "inner / back / exit",
  "chain --autofree /inner / imgstat / echo freed": "inner / freed / exit",
  "chain /inner / imgstat / chain inner": "inner / inner: http://boot.test/inner / inner / exit",
  "chain --name mine /inner / imgstat / chain mine": "inner / mine: http://boot.test/inner / inner / exit",
  "chain -n mine /inner / chain --timeout 5 mine": "inner / inner / exit",
  "chain --replace /inner / echo never": "inner / exit",
  "chain -r /inner / echo never": "inner / exit",
  "chain /gpxe / echo ${y}": "1 / exit",
  "chain /fails":
    "Could not boot http://boot.test/fails: the script ended with exit 1 / failed: Could not boot http://boot.test/fails: the script ended with exit 1",
  "chain /fails || echo on": "Could not boot http://boot.test/fails: the script ended with exit 1 / on / exit",
  "imgexec /fails || echo on": "Could not boot http://boot.test/fails: the script ended with exit 1 / on / exit",
  "chain /page":
    "chain: http://boot.test/page... Exec format error: not an iPXE script or a bootable image / failed: chain: http://boot.test/page... Exec format error: not an iPXE script or a bootable image",
  "chain /forbidden || chain /login || chain /gone || chain /broken || chain /missing":
    "chain: http://boot.test/forbidden... Permission denied (HTTP 403) / chain: http://boot.test/login... Permission denied (HTTP 401) / chain: http://boot.test/gone... No such file or directory (HTTP 410) / chain: http://boot.test/broken... Input/output error (HTTP 500) / chain: http://boot.test/missing... No such file or directory (HTTP 404) / failed: chain: http://boot.test/missing... No such file or directory (HTTP 404)",
  "chain /moved && echo moved": "inner / moved / exit",
  "chain /chosen || chain /nowhere || chain /cached || chain /round || chain /late":
    "chain: http://boot.test/chosen... Input/output error (HTTP 300) / chain: http://boot.test/nowhere... Input/output error (HTTP 302) / inner / exit",
  "chain a/vmlinuz x y": "boots http://boot.test/a/a/vmlinuz (x y)",
  "chain /menu / boot": "chosen / boots http://boot.test/vmlinuz (menu)",
  "chain /inner / boot inner / boot /other": "inner / inner / other / exit",
  boot: "Could not boot: Exec format error: no kernel is selected / failed: Could not boot: Exec format error: no kernel is selected",
  "boot nothing-there":
    "chain: http://boot.test/…/nothing-there... No such file or directory (HTTP 404) / failed: chain: http://boot.test/…/nothing-there... No such file or directory (HTTP 404)",
  "boot --replace nothing-there":
    "chain: http://boot.test/…/nothing-there... No such file or directory (HTTP 404) / failed: chain: http://boot.test/…/nothing-there... No such file or directory (HTTP 404)",
  "boot --autofree vmlinuz x": "boots http://boot.test/a/vmlinuz (x)",
  "boot -r -a vmlinuz": "boots http://boot.test/a/vmlinuz ()",
  kernel: "kernel: no URI given / failed: kernel: no URI given",
  "kernel /missing":
    "kernel: http://boot.test/missing... No such file or directory (HTTP 404) / failed: kernel: http://boot.test/missing... No such file or directory (HTTP 404)",
  "kernel /v/vmlinuz a b / initrd /v/initrd.img / initrd --name second /v/more.img / boot":
    "boots http://boot.test/v/vmlinuz (a b) initrd.img=http://boot.test/v/initrd.img second=http://boot.test/v/more.img",
  "kernel /v/vmlinuz a b / boot vmlinuz c d": "boots http://boot.test/v/vmlinuz (c d)",
  "kernel --name k /v/vmlinuz / imgargs k e f / boot": "boots http://boot.test/v/vmlinuz (e f)",
  "imgload /v/vmlinuz / module /v/m.img / imgfetch /v/f.img / boot":
    "boots http://boot.test/v/vmlinuz () m.img=http://boot.test/v/m.img f.img=http://boot.test/v/f.img",
  "initrd /v/initrd.img / boot":
    "Could not boot: Exec format error: no kernel is selected / failed: Could not boot: Exec format error: no kernel is selected",
  "initrd / initrd": "initrd: no URI given / failed: initrd: no URI given",
  imgfetch: "imgfetch: no URI given / failed: imgfetch: no URI given",
  module: "initrd: no URI given / failed: initrd: no URI given",
  imgselect: "imgselect: no URI given / failed: imgselect: no URI given",
  "imgselect /v/vmlinuz s / boot": "boots http://boot.test/v/vmlinuz (s)",
  "imgfetch /v/vmlinuz / imgselect vmlinuz / boot": "boots http://boot.test/v/vmlinuz ()",
  imgargs: "imgargs: : No such image / failed: imgargs: : No such image",
  "imgargs nothing": "imgargs: nothing: No such image / failed: imgargs: nothing: No such image",
  "imgfree nothing": "imgfree: nothing: No such image / failed: imgfree: nothing: No such image",
  "kernel /v/vmlinuz / initrd /v/a.img / imgfree a.img / imgstat / boot":
    "vmlinuz: http://boot.test/…/vmlinuz / boots http://boot.test/v/vmlinuz ()",
  "kernel /v/vmlinuz / imgfree / imgstat / boot":
    "Could not boot: Exec format error: no kernel is selected / failed: Could not boot: Exec format error: no kernel is selected",
  "kernel /v/vmlinuz / imgstat / imgstat":
    "vmlinuz: http://boot.test/…/vmlinuz / vmlinuz: http://boot.test/…/vmlinuz / exit",
  "kernel /v/vmlinuz a / kernel vmlinuz / boot": "boots http://boot.test/v/vmlinuz (a)",
  "kernel /v/vmlinuz a / kernel vmlinuz b / boot": "boots http://boot.test/v/vmlinuz (b)",
  "kernel http://other.test/vmlinuz-5.0 ro=1 / initrd http://other.test / boot":
    "initrd: http://other.test/... No such file or directory (HTTP 404) / failed: initrd: http://other.test/... No such file or directory (HTTP 404)",
  "kernel / || shell": "kernel: no URI given / failed: kernel: no URI given",
  "chain /v/x.efi && echo never": "boots http://boot.test/v/x.efi ()",
  "kernel /v/VMLINUZ-6 || echo text": "exit",
  "boot /inner": "inner / exit",
  "chain /v/memdisk.gz": "boots http://boot.test/v/memdisk.gz ()",
  "set a 1 && echo set ; echo also || echo not": "set / also / exit",
};

test("each command says and does what iPXE's does, whatever it is given", async () => {
  for (const [script, wanted] of Object.entries(OUTCOMES)) assert.equal(await outcome(script), wanted, script);
});

test("where nobody gives a lease, what needs one fails", async () => {
  const none = "Configuring net0... No configuration methods succeeded";
  assert.equal(await outcome("dhcp || ifconf || iflinkwait", false), [none, none, none, `failed: ${none}`].join(" / "));
});

test("these commands are known, and no other", () => {
  assert.equal(
    Object.keys(COMMANDS).sort().join(" "),
    "boot chain clear colour console cpair cpuid dhcp echo exit goto ifclose ifconf iflinkwait ifopen ifstat imgargs imgexec imgfetch imgfree imgload imgselect imgstat imgtrust inc initrd iseq isset kernel module ntp poweroff prompt reboot route sanboot set shell show sleep",
  );
});

test("a script may run 5000 commands without a pause, and 32 scripts stand within each other", async () => {
  const counted = (commands: number): string => `${"inc n / ".repeat(commands)}shell`;
  assert.equal(await outcome(counted(4_999)), "shell");
  assert.equal(await outcome(counted(5_000)), "failed: the script never pauses and never ends: shell");
  assert.match(await outcome(`${counted(4_000).replace("shell", "sleep 1")} / ${counted(4_999)}`), /^shell/);
  assert.equal(await outcome(`set x ${"a".repeat(16_384)} / shell`), "shell");
  assert.match(await outcome(`set x ${"a".repeat(16_385)}`), /Could not set "x": Out of memory$/);
});
