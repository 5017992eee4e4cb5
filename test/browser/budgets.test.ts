/** What a page costs a browser, as counts: they are the same on a slow computer. Times are in bench/console-load.bench.ts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { PAGES } from "./every-page.ts";
import { fakeConsole } from "./fake-console.ts";
import { manyHosts, smallWorld } from "./objects.ts";
import { type BuiltPage, builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const BUDGET = { requests: 12, bytes: 100_000, terminalBytes: 200_000, nodes: 500 };

let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

test("every page is loaded with few requests and bytes, and has few elements", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  for (const { path, title, shows } of PAGES) {
    const { page } = await openPage(t, "about:blank");
    const fetched: string[] = [];
    page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
    await page.goto(fake.url + path);
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    await page.getByText(shows).first().waitFor();
    await page.waitForLoadState("load");
    const bytes = fetched
      .flatMap((one) => built.files.get(one.slice(1))?.bytes ?? [])
      .reduce((sum, file) => sum + gzipSync(file).length, 0);
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    t.diagnostic(`${path}: ${fetched.length} requests, ${bytes} bytes, ${nodes} elements`);
    const twice = fetched.filter((one, at) => one.startsWith("/assets/") && fetched.indexOf(one) !== at);
    assert.deepEqual(twice, [], path);
    assert.ok(fetched.length <= BUDGET.requests, `${path}: ${fetched.length} requests: ${fetched.join(" ")}`);
    const most = path.startsWith("/machines/") ? BUDGET.terminalBytes : BUDGET.bytes;
    assert.ok(bytes <= most, `${path}: ${bytes} bytes gzipped: ${fetched.join(" ")}`);
    assert.ok(nodes <= BUDGET.nodes, `${path}: ${nodes} elements`);
    await page.context().close();
  }
});

for (const { path, count } of [
  { path: "/", count: 10_000 },
  { path: "/machines", count: 10_000 },
])
  test(`${path} has as many elements with ${count} hosts as with a hundred`, { skip }, async (t) => {
    const nodes: number[] = [];
    for (const many of [100, count]) {
      await using fake = await fakeConsole(built, manyHosts(many));
      const { page } = await openPage(t, fake.url + path);
      const text = path === "/" ? new RegExp(`of ${many} ready`) : new RegExp(`^${many} machines$`);
      await page.getByText(text).first().waitFor();
      nodes.push(await page.evaluate(() => document.querySelectorAll("*").length));
    }
    t.diagnostic(`${path}: ${nodes.join(", ")} elements`);
    assert.ok(Math.abs(nodes[1]! - nodes[0]!) <= 50, nodes.join(", "));
  });
