/** A machine's serial console from the machine to the screen: QEMU, the lab's reader of it, the console's route with the user's rights, the page's terminal. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { Namespace } from "@slipway/kube/core";
import { TOKENS, testConsole } from "../../src/console/server/testing.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SerialConsole } from "../../src/lab/console.ts";
import { serialConsoles } from "../../src/lab/serial-consoles.ts";
import { closeBrowser, openPage, whyNoBrowser } from "../browser/browser.ts";
import { builtPage } from "../browser/page.ts";

const QEMU = "/usr/bin/qemu-system-x86_64";
const MAC = "52:54:00:00:00:01";
/** Colours of the word in the terminal, and of the page around it. */
const COLORS = `(() => {
  const terminal = document.querySelector('[aria-label="Serial console"]');
  const word = [...terminal.querySelectorAll(".xterm-rows span")].find(({ textContent }) => textContent.includes("booted"));
  return [word, terminal].map((element) => getComputedStyle(element).color);
})()`;
const skip = whyNoBrowser() ?? whyNoQemu() ?? false;
after(closeBrowser);

function whyNoQemu(): string | undefined {
  try {
    accessSync(QEMU);
    return undefined;
  } catch {
    return `there is no ${QEMU}: apt-get install qemu-system-x86`;
  }
}

/** A boot sector that writes the text to the first serial line, then every character that is typed there, as it is. */
function speaking(text: string): Buffer {
  const sector = Buffer.alloc(512);
  // biome-ignore format: an instruction a line
  const code = [
    0xfa, 0xfc, 0x31, 0xc0, 0x8e, 0xd8, // cli; cld; ds = 0
    0xbe, 0x00, 0x00,                   // si = the text
    0xac, 0x84, 0xc0, 0x74, 0x11,       // next: al = [si++]; if 0: typed
    0x88, 0xc4,                         // ah = al
    0xba, 0xfd, 0x03, 0xec, 0xa8, 0x20, 0x74, 0xfb, // free: until the line takes a byte
    0x88, 0xe0,                         // al = ah
    0xb2, 0xf8, 0xee,                   // out
    0xeb, 0xea,                         // next
    0xba, 0xfd, 0x03, 0xec, 0xa8, 0x01, 0x74, 0xfb, // typed: until there is a byte
    0xb2, 0xf8, 0xec, 0xee,             // in, out
    0xeb, 0xf2,                         // typed
  ];
  code[7] = code.length;
  code[8] = 0x7c;
  Buffer.from(code).copy(sector);
  sector.write(`${text}\0`, code.length, "latin1");
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** A machine that says the text, and its console as the lab reads it. */
function machine(t: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-serial-"));
  const disk = join(folder, "disk.img");
  writeFileSync(disk, speaking(text));
  const child = spawn(
    QEMU,
    // biome-ignore format: pairs of name and value
    ["-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-m", "16", "-accel", "tcg",
      "-drive", `file=${disk},format=raw,if=ide`],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const console = new SerialConsole(join(folder, "console.log"));
  console.read(child.stdout);
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await console.close();
    rmSync(folder, { recursive: true });
  });
  return { console, type: (typed: string) => child.stdin.write(typed) };
}

test("what a machine writes on its serial line is on its page, live, and what may harm is not; who may not see the machine reads nothing", {
  skip,
}, async (t) => {
  const { console, type } = machine(t, "\x1b]0;owned\x07\x1b[32mbooted\x1b[0m <b>login</b>: \x1b[6n");
  const serial = serialConsoles([{ spec: { mac: MAC }, console }]);
  const { url, client, close } = await testConsole({}, { page: builtPage, outputs: { serial } });
  t.after(close);
  await installCrds(client, clock, new AbortController().signal, [[BareMetalHost]]);
  await client.create(Namespace, { metadata: { name: "rack" } });
  await client.create(BareMetalHost, {
    metadata: { namespace: "rack", name: "node-1" },
    spec: { online: true, bootMACAddress: MAC },
  } as never);
  const { page, errors } = await openPage(t, `${url}/machines/baremetalhosts.metal3.io/rack/node-1`);
  await page.getByLabel("Token, or a kubeconfig with one").fill(TOKENS.admin);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const terminal = page.getByRole("group", { name: "Serial console" });
  // A terminal out of view draws nothing.
  await terminal.scrollIntoViewIfNeeded();
  const shown = terminal.locator(".xterm-accessibility-tree");
  await shown.getByText("booted <b>login</b>:").waitFor();
  type("ada");
  await shown.getByText("booted <b>login</b>: ada").waitFor();
  assert.equal(await page.title(), "Slipway");
  const [word, around] = (await page.evaluate(COLORS)) as string[];
  assert.match(word ?? "", /^rgb/);
  assert.notEqual(word, around);
  assert.deepEqual(errors, []);

  const guest = await openPage(t, url);
  await guest.page.getByLabel("Token, or a kubeconfig with one").fill(TOKENS.viewer);
  await guest.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await guest.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const path = "/console/serial/baremetalhosts.metal3.io?namespace=rack&name=node-1";
  const answer = await guest.page.evaluate(`fetch("${path}").then(({ status }) => status)`);
  assert.equal(answer, 403);
});
