/**
 * The console's page in Debian's Chromium, against a stand-in of its server: the frames while 10,000 machines scroll, and the memory over 100,000
 * changes. Run: `node bench/console-page.bench.ts [--machines 10000] [--changes 100000]`; it ends with its figures as JSON.
 */
import { parseArgs } from "node:util";
import { browser, closeBrowser, whyNoBrowser } from "../test/browser/browser.ts";
import { fakeConsole } from "../test/browser/fake-console.ts";
import { changeHosts, heapOf } from "../test/browser/heap.ts";
import { manyHosts } from "../test/browser/objects.ts";
import { builtPage } from "../test/browser/page.ts";
import { printMachine, report } from "./table.ts";

const { values } = parseArgs({
  options: { machines: { type: "string", default: "10000" }, changes: { type: "string", default: "100000" } },
});
const [MACHINES, CHANGES] = [Number(values.machines), Number(values.changes)];
const FRAMES = 600;
const JUMPS = 100;
const TENTHS = 10;
const MIB = 2 ** 20;

const missing = whyNoBrowser();
if (missing !== undefined) {
  console.log(`console-page: nothing is measured: ${missing}`);
  process.exit(0);
}
printMachine(
  `${MACHINES} machines; ${FRAMES} frames, two rows each, then ${JUMPS} jumps over the whole list; ${CHANGES} changes`,
);

/** Runs in the page: milliseconds from frame to frame while it is scrolled by so much each. */
const scrolled = (frames: number, by: string): string => `(async () => {
  const list = document.querySelector(".long");
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < ${frames}; frame++) {
    list.scrollTop += ${by};
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
})()`;

await using fake = await fakeConsole(await builtPage(), manyHosts(MACHINES));
const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
await page.goto(`${fake.url}/machines`);
await page.getByText(`${MACHINES} machines`).waitFor();
const rounded = (value: number): number => Math.round(value * 10) / 10;
async function frames(what: string, script: string, budget?: number) {
  const times = ((await page.evaluate(script)) as number[]).sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)]!;
  const [median, p99, longest] = [at(0.5), at(0.99), at(1)];
  report(`${what}, median`, median, "ms");
  report(`${what}, 99 of 100`, p99, "ms", budget);
  report(`${what}, longest`, longest, "ms");
  return { median: rounded(median), p99: rounded(p99), longest: rounded(longest) };
}
const scroll = await frames("a frame while it scrolls", scrolled(FRAMES, "60"), 50);
const jump = await frames("a frame of a jump", scrolled(JUMPS, `(list.scrollHeight - list.clientHeight) / ${JUMPS}`));

await page.evaluate(`document.querySelector(".long").scrollTop = 0`);
const heaps: number[] = [];
const each = Math.floor(CHANGES / TENTHS);
for (let tenth = 0; tenth < TENTHS; tenth++) {
  // One number is the last change, by which it is seen that all have come.
  await changeHosts({ fake, page }, { hosts: MACHINES, from: tenth * each, count: each - 1 });
  heaps.push((await heapOf(page)) / MIB);
}
report(`heap after ${each} changes`, heaps[0]!, "MiB");
report(`heap after ${each * TENTHS} changes`, heaps.at(-1)!, "MiB");
report("growth from the first tenth to the last", (100 * (heaps.at(-1)! - heaps[0]!)) / heaps[0]!, "%", 10);
console.log(
  JSON.stringify({ machines: MACHINES, scrollFrameMs: scroll, jumpFrameMs: jump, heapMiB: heaps.map(rounded) }),
);
await context.close();
await closeBrowser();
