/** Listings of a user who may see some kinds and not others. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { SYSTEMS } from "../../operator/systems.ts";
import { kubeconfig } from "../../pki/kubeconfig.ts";
import { verb as get } from "../get.ts";
import { verb as status } from "../status.ts";
import { going, servedCluster, spoken } from "../testing.ts";

const [POOL] = SYSTEMS[0]!.shows!.pools!;
const RBAC = "rbac.authorization.k8s.io";

/** A cluster with a pool and a host, and a kubeconfig of an account that may see hosts alone. */
async function scene(t: TestContext) {
  const { client, kubeconfig: file } = await servedCluster(t);
  await installCrds(client, clock, new AbortController().signal, [[POOL!], [BareMetalHost]]);
  await client.create(POOL!, { metadata: { name: "workers" }, spec: { count: 2 } } as never);
  const addHost = (name: string) =>
    client.create(BareMetalHost, { metadata: { namespace: "default", name }, spec: { online: true } } as never);
  await addHost("node-1");
  const { server, ca } = await loadConnection({ kubeconfig: file, env: {}, clock });
  const admin = createHttpTransport(await loadConnection({ kubeconfig: file, env: {}, clock }));
  const post = async (path: string, body: object) => {
    const answer = await admin.request({ method: "POST", path, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body as { status: { token: string } };
  };
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  const metadata = { name: "viewer" };
  await post(accounts, { metadata });
  const rules = [{ apiGroups: ["metal3.io"], resources: ["baremetalhosts"], verbs: ["get", "list", "watch"] }];
  await post(`/apis/${RBAC}/v1/clusterroles`, { metadata, rules });
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "viewer" };
  const subjects = [{ kind: "ServiceAccount", name: "viewer", namespace: "default" }];
  await post(`/apis/${RBAC}/v1/clusterrolebindings`, { metadata, roleRef, subjects });
  const { token } = (await post(`${accounts}/viewer/token`, { spec: {} })).status;
  await admin.close();
  const own = join(dirname(file), "viewer");
  writeFileSync(own, kubeconfig({ name: "viewer", server, ...(ca !== undefined && { caPem: ca }), token }));
  const complaints: string[] = [];
  t.mock.method(console, "error", (line: string) => void complaints.push(line));
  return { addHost, complaints, args: ["--kubeconfig", own] };
}

const FORBIDDEN = new RegExp(`cannot list resource "${POOL!.plural}"`);

test("a listing shows the kinds that its user may see, and names the others in the API's words", async (t) => {
  const { complaints, args } = await scene(t);
  const { out } = await spoken(t, status, "status", ...args);
  assert.match(out, /^ {2}BareMetalHost +1 /m);
  assert.equal(complaints.filter((line) => FORBIDDEN.test(line)).length, 1, complaints.join("\n"));
});

test("a watch follows the kinds that its user may see beside a forbidden one, which is named once", async (t) => {
  const { addHost, complaints, args } = await scene(t);
  const watching = going(t, status, "status", "--watch", ...args);
  await watching.line(/^ {2}BareMetalHost +1 /);
  await addHost("node-2");
  await watching.line(/^ {2}BareMetalHost +2 /);
  await watching.stop();
  assert.equal(complaints.filter((line) => FORBIDDEN.test(line)).length, 1, complaints.join("\n"));
});

test("get --watch of machines does so, too", async (t) => {
  const { addHost, args } = await scene(t);
  const watching = going(t, get, "get", "machines", "--watch", "-o", "name", ...args);
  await watching.line(/\/node-1$/);
  await addHost("node-2");
  await watching.line(/\/node-2$/);
  await watching.stop();
});
