/**
 * From an object's write to its row on the screen: an embedded API, the console's own server, its page in Debian's Chromium. A host is created; the
 * page says in which frame its row stood. Run: `node bench/console-screen.bench.ts [--machines 200] [--writes 200]`.
 */
import { parseArgs } from "node:util";
import { systemClock as clock } from "@slipway/base";
import { Namespace } from "@slipway/kube/core";
import { TOKENS, testConsole } from "../src/console/server/testing.ts";
import { installCrds } from "../src/kinds/install.ts";
import { BareMetalHost } from "../src/kinds/metal3/bare-metal-host.ts";
import { browser, closeBrowser, whyNoBrowser } from "../test/browser/browser.ts";
import { builtPage } from "../test/browser/page.ts";
import { printMachine, report } from "./table.ts";

const { values } = parseArgs({
  options: { machines: { type: "string", default: "200" }, writes: { type: "string", default: "200" } },
});
const [MACHINES, WRITES] = [Number(values.machines), Number(values.writes)];
const BUDGET_MS = 100;
const NAMESPACE = "rack";
/** Writes do not keep step with the server's batches of 40 ms. */
const PAUSES_MS = [3, 17, 29, 41, 53];

const missing = whyNoBrowser();
if (missing !== undefined) {
  console.log(`console-screen: nothing is measured: ${missing}`);
  process.exit(0);
}
printMachine(`${MACHINES} machines are shown, ${WRITES} more are written one after the other`);

/** Runs in the page: the moment, in milliseconds since 1970, of the frame in which the text stood. */
const shownAt = (text: string): string => `new Promise((resolve) => {
  const look = () => {
    if (!document.querySelector("main").textContent.includes(${JSON.stringify(text)})) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
  };
  look();
})`;

const { url, client, close } = await testConsole({}, { page: builtPage });
await installCrds(client, clock, new AbortController().signal, [[BareMetalHost]]);
await client.create(Namespace, { metadata: { name: NAMESPACE } });
const write = (name: string) =>
  client.create(BareMetalHost, { metadata: { namespace: NAMESPACE, name }, spec: { online: true } } as never);
for (let i = 0; i < MACHINES; i++) await write(`m-${i}`);

const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
await page.goto(`${url}/machines`);
await page.getByLabel("Token, or a kubeconfig with one").fill(TOKENS.admin);
await page.getByRole("button", { name: "Sign in", exact: true }).click();
await page.getByText(`${MACHINES} machines`).waitFor();

const took: number[] = [];
for (let i = 0; i < WRITES; i++) {
  await clock.sleep(PAUSES_MS[i % PAUSES_MS.length]!);
  // The list is in the order of names, and draws what is in view.
  const name = `a-${String(WRITES - i).padStart(6, "0")}`;
  const shown = page.evaluate(shownAt(name)) as Promise<number>;
  const written = performance.timeOrigin + performance.now();
  await write(name);
  took.push((await shown) - written);
}
took.sort((a, b) => a - b);
const at = (share: number): number => took[Math.floor((took.length - 1) * share)]!;
report("from write to screen, median", at(0.5), "ms", BUDGET_MS);
report("from write to screen, 99 of 100", at(0.99), "ms", BUDGET_MS);
report("from write to screen, longest", at(1), "ms");
await context.close();
await closeBrowser();
await close();
