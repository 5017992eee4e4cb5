import assert from "node:assert/strict";
import { after, test } from "node:test";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { fakeConsole } from "./fake-console.ts";
import { changeHosts, heapOf } from "./heap.ts";
import { manyHosts } from "./objects.ts";
import { builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const HOSTS = 1_000;
const CHANGES = 20_000;
/** A hundred bytes that each change leaves behind would be more. */
const MOST_GROWTH_BYTES = 2_000_000;
after(closeBrowser);

test("20,000 changes leave nothing behind in the page's memory", { skip }, async (t) => {
  await using fake = await fakeConsole(await builtPage(), manyHosts(HOSTS));
  const { page } = await openPage(t, `${fake.url}/machines`);
  await page.getByText(`${HOSTS} machines`).waitFor();
  // Of each object the version before the last is kept, too.
  await changeHosts({ fake, page }, { hosts: HOSTS, from: 0, count: 2 * HOSTS });
  const before = await heapOf(page);
  await changeHosts({ fake, page }, { hosts: HOSTS, from: 2 * HOSTS + 1, count: CHANGES });
  const grown = (await heapOf(page)) - before;
  t.diagnostic(`${(before / 2 ** 20).toFixed(1)} MiB before, ${(grown / 2 ** 20).toFixed(2)} MiB more after`);
  assert.ok(grown < MOST_GROWTH_BYTES, `${grown} bytes more after ${CHANGES} changes`);
});
