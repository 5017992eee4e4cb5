import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { PAGES } from "./every-page.ts";
import { fakeConsole, TOKEN } from "./fake-console.ts";
import { ATTACK, host, smallWorld } from "./objects.ts";
import { type BuiltPage, builtPage, firstFiles, foreignImports } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations;
  });
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .slice(0, 3)
          .join(" ")}`,
    );
}

test("the page is under 200 KB gzipped without the terminal, and imports nothing that a browser has not", () => {
  const first = firstFiles(built);
  assert.ok(first.length >= 2, `the markup names ${first.join(", ") || "nothing"}`);
  const size = first.reduce((sum, name) => sum + gzipSync(built.files.get(name)!.bytes, { level: 9 }).length, 0);
  assert.ok(size < 200_000, `${size} bytes: ${first.join(", ")}`);
  const scripts = first.filter((name) => name.endsWith(".js"));
  const isTerminal = (name: string): boolean => Buffer.from(built.files.get(name)!.bytes).includes("xterm-helper");
  assert.ok(!scripts.some(isTerminal), "the terminal is loaded at once");
  assert.deepEqual(foreignImports(built), []);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`every page shows what there is, runs no text of a machine, and axe finds nothing serious: ${colorScheme}`, {
    skip,
  }, async (t) => {
    await using fake = await fakeConsole(built, smallWorld());
    const { page, errors } = await openPage(t, fake.url, { colorScheme });
    for (const { path, title, shows } of PAGES) {
      await page.goto(fake.url + path);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await page.getByText(shows).first().waitFor();
      assert.deepEqual(await serious(page), [], path);
      assert.equal(await page.evaluate("globalThis.attacked"), undefined, `${path} ran what a machine sent`);
      assert.equal(await page.locator("main img, main svg, main script").count(), 0, path);
    }
    assert.deepEqual(errors, []);
  });

test("at the width of a phone no page is wider than the screen", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, fake.url, {
    viewport: { width: 390, height: 800 },
    isMobile: true,
    hasTouch: true,
  });
  for (const { path, title } of PAGES) {
    await page.goto(fake.url + path);
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${path} is ${width} wide`);
  }
});

for (const colorScheme of ["light", "dark"] as const)
  test(`the chart has the colours of its legend: ${colorScheme}`, { skip }, async (t) => {
    await using fake = await fakeConsole(built, smallWorld());
    const { page } = await openPage(t, fake.url, { colorScheme });
    await page.locator("figure canvas").waitFor();
    const found = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>("figure canvas")!;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const drawn = new Set<string>();
      for (let at = 0; at < data.length; at += 4) drawn.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
      return [...document.querySelectorAll("figcaption .word")].map((word) => drawn.has(getComputedStyle(word).color));
    });
    assert.deepEqual(found, [true, true]);
  });

test("what a machine sends is shown as it is, as text", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, `${fake.url}/machines/baremetalhosts.metal3.io/slipway-hosts/node-1`);
  await page.getByRole("definition").filter({ hasText: ATTACK }).first().waitFor();
  await page.getByRole("cell", { name: ATTACK }).first().waitFor();
});

test("changes are shown without a reload; after a lost connection the whole state replaces the old one", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, `${fake.url}/machines`);
  await page.getByRole("link", { name: "node-1", exact: true }).waitFor();
  fake.set(host("node-9"));
  await page.getByRole("link", { name: "node-9", exact: true }).waitFor();
  const gone = host("node-2");
  fake.dropStreams();
  fake.remove(gone);
  await page.getByRole("link", { name: "node-2", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  fake.remove(host("node-9"));
  await page.getByRole("link", { name: "node-9", exact: true }).waitFor({ state: "detached" });
});

test("the last change of an object is shown as a difference, without managed fields", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, `${fake.url}/object/baremetalhosts.metal3.io/slipway-hosts/node-2`);
  await page.getByRole("region", { name: "YAML" }).getByText("redfish://10.0.0.1").waitFor();
  fake.set(
    host("node-2", {
      metadata: { resourceVersion: "2", managedFields: [{ manager: "secret-manager" }] },
      spec: { online: false },
    }),
  );
  await page.getByRole("button", { name: "Last change" }).click();
  const change = page.getByRole("region", { name: "Last change" });
  await change.getByText("+   online: false").waitFor();
  await change.getByText("-   online: true").waitFor();
  assert.equal(await page.getByText("secret-manager").count(), 0);
});

test("who is not signed in signs in with a token; a wrong one is refused in the server's words", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  fake.isSignedIn = false;
  const { page } = await openPage(t, `${fake.url}/machines`);
  await page.getByRole("link", { name: "Sign in with OpenID Connect" }).waitFor();
  assert.deepEqual(await serious(page), []);
  const field = page.getByLabel("Token, or a kubeconfig with one");
  await field.fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("the API does not know this token").waitFor();
  await field.fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "node-1", exact: true }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await field.waitFor();
  assert.equal(await page.getByText("node-1").count(), 0);
});

test("what a user may not see is said in the API's words", { skip }, async (t) => {
  await using fake = await fakeConsole(built, []);
  fake.denied.set("baremetalhosts.metal3.io", 'User "anna" cannot watch resource "baremetalhosts"');
  const { page } = await openPage(t, `${fake.url}/rack`);
  await page.getByText("Your account may not see baremetalhosts.metal3.io").click();
  await page.getByText('User "anna" cannot watch resource "baremetalhosts"').waitFor();
});

test("the keyboard reaches all: / searches, j, k and Enter choose, g and a letter goes, ? helps, Escape leaves", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, fake.url);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { level: 1, name: "Racks" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // However long a page takes to come up: here no frame is waited for.
  await page.evaluate("globalThis.requestAnimationFrame = (frame) => (frame(0), 0)");
  await page.keyboard.press("/");
  await page.locator("input[type=search]:focus").waitFor();
  await page.keyboard.type("rack:r1");
  await page
    .getByText(/^2 of 5 machines$/)
    .or(page.getByText(/^2 of 4 machines$/))
    .waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "node-1" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
});

test("a key that is pressed while a dialog closes leads where it says: the focus does not go back", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, fake.url);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  // Now the page itself has the focus.
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { level: 1, name: "Racks" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  // In one turn: the dialog's event `close` comes after the key.
  await page.evaluate(
    "document.querySelector('dialog').close(), dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))",
  );
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator("input[type=search]:focus").waitFor();
});

test("the serial console shows text and colours; sequences that ask or keep something never reach the terminal", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  fake.serial = "\x1b]0;owned\x07\x1b[31mred\x1b[0m \x1b[6n\x1bP$qm\x1b\\booted\r\n";
  const { page, errors } = await openPage(t, `${fake.url}/machines/baremetalhosts.metal3.io/slipway-hosts/node-1`);
  const terminal = page.getByRole("group", { name: "Serial console" });
  // A terminal out of view draws nothing.
  await terminal.scrollIntoViewIfNeeded();
  await terminal.locator(".xterm-accessibility-tree").getByText("booted").waitFor();
  const color = await terminal
    .locator(".xterm-rows span", { hasText: "red" })
    .first()
    .evaluate((span) => getComputedStyle(span).color);
  assert.equal(color, "rgb(204, 0, 0)");
  assert.equal(await page.title(), "Slipway");
  assert.deepEqual(errors, []);
});
