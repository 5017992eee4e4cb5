import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { fakeConsole } from "./fake-console.ts";
import { host, smallWorld } from "./objects.ts";
import { type BuiltPage, builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

const HOST = "baremetalhosts.metal3.io/slipway-hosts";
const HOSTS = "/apis/metal3.io/v1alpha1/namespaces/slipway-hosts/baremetalhosts";
const HARVESTER = "/apis/equinix.harvesterhci.io/v1";

/** Each action: where its button is, what is sent, and a part of the command that is shown. */
const ACTIONS = [
  { at: `${HOST}/node-1`, button: "Power on", sent: `${HOSTS}/node-1`, shows: '{"spec":{"online":true}}' },
  { at: `${HOST}/node-1`, button: "Power off", sent: `${HOSTS}/node-1`, shows: '{"spec":{"online":false}}' },
  { at: `${HOST}/node-1`, button: "Restart", sent: `${HOSTS}/node-1`, shows: "reboot.metal3.io" },
  { at: `${HOST}/node-1`, button: "Inspect", sent: `${HOSTS}/node-1`, shows: "inspect.metal3.io" },
  { at: `${HOST}/node-1`, button: "Wipe", sent: `${HOSTS}/node-1`, shows: "slipway.dev/wipe" },
  { at: `${HOST}/node-2`, button: "Give back", sent: `${HOSTS}/node-2`, shows: "consumerRef" },
  { at: `${HOST}/node-1`, button: "Approve", sent: `${HOSTS}/node-1`, shows: "slipway.dev/approved=3f2a-90b1" },
  { at: `${HOST}/node-1`, button: "Pause", sent: `${HOSTS}/node-1`, shows: "baremetalhost.metal3.io/paused=console" },
  {
    at: "instances.equinix.harvesterhci.io/-/workers-1",
    button: "Replace",
    sent: `${HARVESTER}/instances/workers-1`,
    shows: "delete",
  },
  {
    at: "instances.equinix.harvesterhci.io/-/workers-1",
    button: "Protect",
    sent: `${HARVESTER}/instances/workers-1`,
    shows: "slipway.dev/protect=true",
  },
  {
    at: "clusters.cluster.x-k8s.io/default/alpha",
    button: "Pause",
    sent: "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters/alpha",
    shows: '{"spec":{"paused":true}}',
  },
] as const;

async function confirm(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  const go = dialog.getByRole("button", { name: button, exact: true });
  const confirmation = dialog.getByRole("textbox");
  if ((await confirmation.count()) > 0) {
    assert.equal(await go.isDisabled(), true, `${button} destroys, and asks for no name`);
    await dialog.getByText("What is lost:").waitFor();
    await confirmation.fill((await dialog.locator("label b").textContent()) ?? "");
  }
  await go.click();
}

test("every action shows its kubectl command, asks, and sends exactly that with the session's token", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, [...smallWorld()]);
  const { page, errors } = await openPage(t, fake.url);
  for (const { at, button, sent, shows } of ACTIONS) {
    fake.sent.length = 0;
    await page.goto(`${fake.url}/object/${at}`);
    await page.getByRole("button", { name: button, exact: true }).and(page.locator("[aria-disabled=false]")).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(shows).waitFor();
    assert.deepEqual(fake.sent, [], `${button} was sent before it was confirmed`);
    await confirm(page, button);
    await dialog.getByRole("status").getByText("Done").waitFor();
    assert.deepEqual(
      fake.sent.map(({ path, csrf }) => ({ path, csrf })),
      [{ path: sent, csrf: "csrf-1" }],
      button,
    );
  }
  assert.deepEqual(errors, []);
});

test("scaling down names what is lost, scaling up does not ask for a name", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const { page } = await openPage(t, `${fake.url}/object/instancepools.equinix.harvesterhci.io/-/workers`);
  const scale = async (members: string): Promise<void> => {
    await page.getByRole("spinbutton", { name: "Members" }).fill(members);
    await page.getByRole("button", { name: "Scale" }).and(page.locator("[aria-disabled=false]")).click();
  };
  await scale("5");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("--replicas=5").waitFor();
  assert.equal(await dialog.getByText("What is lost").count(), 0);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(fake.sent, []);
  await scale("1");
  await dialog.getByText("chosen among workers-1, workers-2").waitFor();
  await confirm(page, "Scale");
  await dialog.getByRole("status").getByText("Done").waitFor();
  assert.deepEqual(
    fake.sent.map(({ path, body, type }) => ({ path, body, type })),
    [
      {
        path: `${HARVESTER}/instancepools/workers/scale`,
        body: { spec: { replicas: 1 } },
        type: "application/merge-patch+json",
      },
    ],
  );
});

test("what a user may not do is disabled, stays in the order of the keyboard, and says the authorizer's reason", {
  skip,
}, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  fake.allow = ({ verb, resource }) => ({ allowed: false, reason: `anna may not ${verb} ${resource}` });
  const { page } = await openPage(t, fake.url);
  for (const { at, button } of ACTIONS) {
    await page.goto(`${fake.url}/object/${at}`);
    const found = page.getByRole("button", { name: button, exact: true });
    await found.and(page.locator("[aria-describedby]")).waitFor();
    await found.focus();
    await page
      .getByText(/anna may not (patch|delete) (baremetalhosts|instances|clusters)/)
      .and(page.locator(":visible"))
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("dialog").count(), 0, button);
  }
  assert.deepEqual(fake.sent, []);
});

test("what the object's state forbids is disabled with the same words as the command's", { skip }, async (t) => {
  await using fake = await fakeConsole(built, [
    host("node-2", { spec: { consumerRef: { kind: "Instance", name: "a" } } }),
  ]);
  const { page } = await openPage(t, `${fake.url}/object/${HOST}/node-2`);
  const wipe = page.getByRole("button", { name: "Wipe", exact: true });
  await wipe.and(page.locator("[aria-disabled=true]")).focus();
  await page.getByText("it is in use: by Instance a").and(page.locator(":visible")).waitFor();
});

test("the API's refusal is shown as it is, and the question stays", { skip }, async (t) => {
  await using fake = await fakeConsole(built, smallWorld());
  const message = 'admission webhook "x" denied the request: <b>not today</b>';
  fake.answer = () => ({ status: 403, message });
  const { page } = await openPage(t, `${fake.url}/object/${HOST}/node-1`);
  await page.getByRole("button", { name: "Pause", exact: true }).and(page.locator("[aria-disabled=false]")).click();
  await confirm(page, "Pause");
  await page.getByRole("alert").getByText(message).waitFor();
  assert.equal(await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).isEnabled(), true);
});
