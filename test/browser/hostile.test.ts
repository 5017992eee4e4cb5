/** Pages of random objects with hostile texts and shapes in any field (`hostileWorld`): every page stands, nothing runs, nothing throws. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { followedKindOf } from "../../src/views/followed-kinds.ts";
import { HOSTILE_TEXTS, hostileWorld } from "../../src/views/testing.ts";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { PAGES } from "./every-page.ts";
import { fakeConsole } from "./fake-console.ts";
import { smallWorld } from "./objects.ts";
import { type BuiltPage, builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const WORLDS = Number(process.env.HOSTILE_WORLDS ?? 12);
const SEED = Number(process.env.HOSTILE_SEED ?? 17);

let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

/** Pages of all objects that have one. */
const pathsOf = (objects: readonly KubeObject[]): string[] => [
  ...PAGES.map(({ path }) => path),
  ...objects.flatMap((object) => {
    const kind = followedKindOf(object);
    const { namespace = "-", name } = object.metadata;
    return kind === undefined || kind.kind === "Event" ? [] : [`/object/${kind.name}/${namespace}/${name}`];
  }),
];

test("every page of objects with hostile texts and shapes stands, runs none of them, and follows the next change", {
  skip,
}, async (t) => {
  const worlds = fc.sample(hostileWorld(smallWorld()), { numRuns: WORLDS, seed: SEED });
  t.diagnostic(`HOSTILE_SEED=${SEED} HOSTILE_WORLDS=${WORLDS}`);
  await using fake = await fakeConsole(built, []);
  fake.serial = HOSTILE_TEXTS.join("\r\n");
  const { page, errors } = await openPage(t, fake.url);
  for (const [at, world] of worlds.entries()) {
    fake.set(...world);
    for (const path of pathsOf(world)) {
      const where = `world ${at}, ${path}`;
      // As a click does: the page stays, with what it knows.
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, path);
      await page.locator("main h1").waitFor();
      assert.deepEqual(errors, [], where);
      assert.equal(await page.evaluate("globalThis.attacked"), undefined, where);
      assert.equal(await page.locator("main img, main svg, main script, main iframe").count(), 0, where);
      const links = await page.locator("main a").evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
      for (const link of links) assert.ok(link.startsWith(`${fake.url}/`), `${where}: a link to ${link}`);
    }
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  }
});
