/**
 * What a browser does until the console's page stands: first paint, layout shift, requests, bytes of scripts and styles, each against a budget.
 * Debian's Chromium, with nothing in its cache, against a stand-in of the console's server. Run: `node bench/console-load.bench.ts
 * [--machines 200] [--loads 9]`.
 */
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { browser, closeBrowser, whyNoBrowser } from "../test/browser/browser.ts";
import { fakeConsole } from "../test/browser/fake-console.ts";
import { manyHosts } from "../test/browser/objects.ts";
import { builtPage } from "../test/browser/page.ts";
import { printMachine, report } from "./table.ts";

const { values } = parseArgs({
  options: { machines: { type: "string", default: "200" }, loads: { type: "string", default: "9" } },
});
const [MACHINES, LOADS] = [Number(values.machines), Number(values.loads)];

/** What is good by the measures of Chromium's Lighthouse (1.8 s to the first paint, 0.1 of shift), tighter where the page is far from it. */
const BUDGET = { firstPaintMs: 1_800, layoutShift: 0.1, requests: 12, scriptKiB: 200, styleKiB: 20 };

interface Load {
  firstPaint: number;
  shift: number;
  /** Paths of what was fetched, the document and the streams included. */
  fetched: string[];
}

/** Runs in the page. */
const MEASURED = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => setTimeout(() => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    resolve({ firstPaint: paint.startTime, shift });
  }));
})`;

const missing = whyNoBrowser();
if (missing !== undefined) {
  console.log(`console-load: nothing is measured: ${missing}`);
  process.exit(0);
}
printMachine(`${LOADS} loads of Overview and of Machines, ${MACHINES} machines`);
await using fake = await fakeConsole(await builtPage(), manyHosts(MACHINES));

async function load(path: string, stands: string): Promise<Load> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
  await page.goto(`${fake.url}${path}`);
  await page.getByText(stands).first().waitFor();
  const measured = (await page.evaluate(MEASURED)) as Omit<Load, "fetched">;
  await context.close();
  return { ...measured, fetched };
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

async function gzippedKiB(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(Buffer.from(await (await fetch(`${fake.url}${path}`)).arrayBuffer())).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

for (const [name, path, stands] of [
  ["Overview", "/", "Machines"],
  ["Machines", "/machines", `${MACHINES} machines`],
] as const) {
  const loads: Load[] = [];
  for (let i = 0; i < LOADS; i++) loads.push(await load(path, stands));
  const { fetched } = loads[0]!;
  report(`${name}: first paint, median`, median(loads.map(({ firstPaint }) => firstPaint)), "ms", BUDGET.firstPaintMs);
  report(`${name}: layout shift, most`, Math.max(...loads.map(({ shift }) => shift)), "", BUDGET.layoutShift);
  report(`${name}: requests`, fetched.length, "", BUDGET.requests);
  const ofType = (end: string): string[] => fetched.filter((one) => one.endsWith(end));
  report(`${name}: scripts, gzipped`, await gzippedKiB(ofType(".js")), "KiB", BUDGET.scriptKiB);
  report(`${name}: styles, gzipped`, await gzippedKiB(ofType(".css")), "KiB", BUDGET.styleKiB);
}
await closeBrowser();
