/**
 * Writes the pictures of the docs (`make pictures`): the console in Debian's Chromium, and the command in a terminal, on a `slipway up` with simulated machines.
 * Argument: the folder.
 */
import { execFile } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { browser, closeBrowser, whyNoBrowser } from "./browser.ts";
import { terminalPicture } from "./terminal-picture.ts";
import { World } from "./world.ts";

const ROOT = join(import.meta.dirname, "../..");
const [folder = join(ROOT, "docs/pictures")] = process.argv.slice(2);
/** They are fetched with every page of the docs, and kept in every clone. */
const MOST_BYTES = 60_000;
const POOL = "harvester-latitude-worker";
const COMMANDS = { status: ["status"], tree: ["tree", `instancepool/${POOL}`] } as const;

const missing = whyNoBrowser();
if (missing !== undefined) {
  console.error(`no pictures: ${missing}`);
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
try {
  await using world = await World.start();
  for (const file of ["secret", "instancepool-latitude", "instancepool-network"])
    await world.apply(`harvester/${file}.yaml`);
  await consoleOf(world);
  for (const [name, words] of Object.entries(COMMANDS)) await command(world, name, words);
} finally {
  await closeBrowser();
}

async function consoleOf(world: World): Promise<void> {
  const context = await (await browser()).newContext({ viewport: { width: 1120, height: 680 }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(world.url);
  await page.getByLabel("Token, or a kubeconfig with one").fill(world.kubeconfig);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const instances = page.locator("article.card", { has: page.getByRole("heading", { name: "Instance", exact: true }) });
  await instances.getByText("3 of 3 ready").waitFor({ timeout: 90_000 });
  await taken(page, "overview");
  await page.goto(`${world.url}/machines`);
  const machine = page.getByRole("link", { name: new RegExp(`^${POOL}-`) }).first();
  await machine.waitFor();
  await taken(page, "machines");
  await machine.click();
  await page.getByText("Node joined").waitFor();
  await taken(page, "machine");
  await page.goto(`${world.url}/pools`);
  await page
    .getByRole("link", { name: new RegExp(`^${POOL}-`) })
    .first()
    .waitFor();
  await taken(page, "pools");
  await context.close();
}

async function taken(page: Page, name: string): Promise<void> {
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  const session = await page.context().newCDPSession(page);
  // A third of a PNG, which is all that Playwright writes without loss.
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await session.detach();
  const file = join(folder, `console-${name}.webp`);
  writeFileSync(file, Buffer.from(data, "base64"));
  show(file);
}

/** A command as it is called, and what it prints. */
async function command(world: World, name: string, words: readonly string[]): Promise<void> {
  const kubeconfig = join(world.dir, "kubeconfig");
  const { stdout } = await promisify(execFile)(join(ROOT, "bin/slipway"), [...words, "--kubeconfig", kubeconfig]);
  const file = join(folder, `command-${name}.svg`);
  writeFileSync(file, terminalPicture(`slipway ${words.join(" ")}`, stdout));
  show(file);
}

function show(file: string): void {
  const { size } = statSync(file);
  console.log(`${file} ${Math.ceil(size / 1000)} KB`);
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MOST_BYTES}`);
}
