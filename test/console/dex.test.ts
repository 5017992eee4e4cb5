/** Signing in by a provider of identities, with nothing made for the test but the users: Dex, kube-apiserver, the console and a browser. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import type { Page } from "playwright-core";
import { startConsole } from "../../src/console/server/console.ts";
import { transportOf } from "../../src/console/server/credentials.ts";
import { CALLBACK } from "../../src/console/server/oidc.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { login } from "../../src/lab/vino/dex-login.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { closeBrowser, openPage, whyNoBrowser } from "../browser/browser.ts";
import { builtPage } from "../browser/page.ts";
import { startCluster } from "../kubernetes/cluster.ts";
import { ADA, HOST, MOCK, oidcFlags, startDex, whoIs, whyNoDex } from "../kubernetes/dex.ts";
import { freePort } from "../kubernetes/free-port.ts";

const skip = whyNoBrowser() ?? (await whyNoDex()) ?? false;
const RBAC = "rbac.authorization.k8s.io";
after(closeBrowser);

test("a user of Dex signs in to the console in a browser and sees what kube-apiserver lets her groups see; another user of it sees less, a wrong password nothing", {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-console-dex-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const own = `http://${HOST}:${port}`;
  const { provider, settings } = await startDex(t, folder, [`${own}${CALLBACK}`]);
  const identity = await laptopIdentity(undefined, HOST, clock);
  const cluster = await startCluster({ identity, apiServerFlags: oidcFlags("file", settings, folder) });
  t.after(() => cluster.close());
  const { client, plane, transport } = cluster;
  await installCrds(client, clock, new AbortController().signal, [[BareMetalHost]]);
  await client.create(BareMetalHost, {
    metadata: { namespace: "default", name: "node-1" },
    spec: { online: true },
  } as never);
  const metadata = { name: "hosts" };
  const rules = [{ apiGroups: ["metal3.io"], resources: ["baremetalhosts"], verbs: ["get", "list", "watch"] }];
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "hosts" };
  const subjects = [{ apiGroup: RBAC, kind: "Group", name: MOCK.groups[0] }];
  for (const [plural, body] of [
    ["clusterroles", { metadata, rules }],
    ["clusterrolebindings", { metadata, roleRef, subjects }],
  ] as const) {
    const answer = await transport.request({ method: "POST", path: `/apis/${RBAC}/v1/${plural}`, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }
  // kube-apiserver learns the provider's keys a moment after its start.
  const { id_token: token } = await login(provider, { connector: "mock" });
  const asMock = createHttpTransport({
    ...{ server: plane.url, ca: identity.serving.clientCa! },
    authorization: async () => `Bearer ${token}`,
  });
  t.after(() => asMock.close());
  assert.equal((await whoIs(asMock)).username, MOCK.username);

  const http = undiciHttp({ ca: provider.ca });
  t.after(() => http.close());
  const { server, ca } = await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock });
  const console = await startConsole(
    {
      ...{ clock, random, log, http, page: builtPage },
      transport: (credentials) => transportOf({ server, ...(ca !== undefined && { ca }) }, credentials),
    },
    { port, oidc: { issuer: provider.issuer, clientId: provider.clientId, url: own } },
  );
  t.after(() => console.close());

  const { page, errors } = await openPage(t, `${own}/machines`, { ignoreHTTPSErrors: true });
  await atDex(page, /Mock/);
  await page.getByRole("link", { name: "node-1", exact: true }).waitFor();
  assert.equal(page.url(), `${own}/machines`);
  await page.getByText(MOCK.username).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "Sign in with OpenID Connect" }).waitFor();
  assert.equal(await page.getByText("node-1").count(), 0);

  const other = (await openPage(t, `${own}/machines`, { ignoreHTTPSErrors: true })).page;
  await atDex(other, /Email/);
  await other.locator("input[name=login]").fill(ADA.name);
  await other.locator("input[name=password]").fill("another");
  await other.locator("button[type=submit]").click();
  await other.getByText(/Invalid/).waitFor();
  assert.ok(other.url().startsWith(provider.issuer), other.url());
  await other.locator("input[name=login]").fill(ADA.name);
  await other.locator("input[name=password]").fill(ADA.password);
  await other.locator("button[type=submit]").click();
  await other.getByText(ADA.name).first().waitFor();
  await other.getByText(/^Your account may not see .*baremetalhosts/).click();
  await other.getByText(`User "${ADA.name}" cannot watch resource "baremetalhosts"`).first().waitFor();
  assert.equal(await other.getByText("node-1").count(), 0);
  assert.deepEqual(errors, []);
});

/** Leaves the console for Dex, and takes a connector there. */
async function atDex(page: Page, connector: RegExp): Promise<void> {
  await page.getByRole("link", { name: "Sign in with OpenID Connect" }).click();
  await page.getByRole("link", { name: connector }).click();
}
