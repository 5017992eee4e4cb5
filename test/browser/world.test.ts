/** The page, its server, the API and the operator together, as `slipway up` runs them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { browser, closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { World } from "./world.ts";

const skip = whyNoBrowser() ?? false;
const POOL = "harvester-latitude-worker";
/** Machines are simulated, and this computer may be busy. */
const PATIENCE = { timeout: 90_000 };
after(closeBrowser);

async function signIn(page: Page, credentials: string): Promise<void> {
  await page.getByLabel("Token, or a kubeconfig with one").fill(credentials);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
}

/** The overview's card of a kind of machines says this. */
const counted = (page: Page, kind: string, text: string): Promise<void> =>
  page
    .locator("article.card", { has: page.getByRole("heading", { name: kind, exact: true }) })
    .getByText(text)
    .waitFor(PATIENCE);

test("a pool grows and shrinks before the eyes of its owner, is shown to nobody else, and is there after the operator was killed", {
  skip,
}, async (t) => {
  await using world = await World.start();
  await world.apply("harvester/instancepool-latitude.yaml");
  const { page, errors } = await openPage(t, world.url);
  await signIn(page, world.kubeconfig);
  await counted(page, "Instance", "2 of 2 ready");
  // Three that the cluster consists of, and those of the pool.
  await counted(page, "Machine", "5 of 5 ready");
  await page.getByRole("link", { name: POOL, exact: true }).first().waitFor();

  await page.getByRole("link", { name: "Machines", exact: true }).click();
  await page.getByText(/^7 machines$/).waitFor();
  await page.getByRole("searchbox").fill("kind:instance is:ready");
  await page.getByText(/^2 of 7 machines$/).waitFor();
  await page
    .getByRole("link", { name: new RegExp(`^${POOL}-`) })
    .first()
    .click();
  await page.getByText("Node joined").waitFor();

  await page.goto(`${world.url}/object/instancepools.equinix.harvesterhci.io/-/${POOL}`);
  await page.getByRole("spinbutton", { name: "Members" }).fill("3");
  await page.getByRole("button", { name: "Scale" }).and(page.locator("[aria-disabled=false]")).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("--replicas=3").waitFor();
  await dialog.getByRole("button", { name: "Scale" }).click();
  await dialog.getByText("Done: the API has accepted it.").waitFor();
  await page.goto(world.url);
  await counted(page, "Instance", "3 of 3 ready");

  const guest = await (await browser()).newContext();
  const refused = await guest.newPage();
  await refused.goto(world.url);
  await signIn(refused, await guestToken(world));
  await refused.getByText(/^Your account may not see .*instancepools/).click();
  const words = `User "system:serviceaccount:default:guest" cannot watch resource "instancepools"`;
  await refused.getByText(words).first().waitFor();
  assert.equal(await refused.getByText(POOL).count(), 0);
  await guest.close();

  await world.kill("SIGKILL");
  await page.getByRole("status").filter({ hasText: "connection lost" }).waitFor();
  await counted(page, "Instance", "3 of 3 ready");
  await world.begin();
  // Sessions are kept in memory.
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor(PATIENCE);
  await signIn(page, world.kubeconfig);
  await counted(page, "Instance", "3 of 3 ready");
  await world.withClient((client) =>
    client.patch(InstancePool, { name: POOL }, { type: "merge", body: { spec: { count: 1 } } }),
  );
  await counted(page, "Instance", "1 of 1 ready");
  assert.deepEqual(errors, []);
});

/** A token of an account that may do nothing. */
async function guestToken(world: World): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  return await world.withApi(async (api) => {
    const created = async (path: string, body: object): Promise<unknown> => {
      const answer = await api.request({ method: "POST", path, body });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    };
    await created(accounts, { metadata: { name: "guest" } });
    const { status } = (await created(`${accounts}/guest/token`, { spec: {} })) as { status: { token: string } };
    return status.token;
  });
}
