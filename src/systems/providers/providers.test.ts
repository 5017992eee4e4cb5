/** MachineProviders on the embedded API in virtual time; the cloud is a driver that takes one key. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, createManager } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { installCrds } from "../../kinds/install.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { type Account, Accounts } from "../../machines/accounts.ts";
import type { MachineDriver } from "../../machines/machine.ts";
import { aMachine } from "../../machines/testing.ts";
import { providerController } from "./provider-controller.ts";

const MINUTE = 60_000;
const NAMESPACE = "slipway";
const SPEC = { type: "latitude", credentialsSecretRef: { name: "key" } } as const;

const data = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

async function stage(t: TestContext, spec: Partial<MachineProvider["spec"]> = {}) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const installed = installCrds(client, clock, new AbortController().signal, [[MachineProvider]]);
  await clock.run(MINUTE);
  await installed;
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const cloud = { key: "right", machines: [aMachine()], lists: 0, endpoint: "", ca: "" as string | undefined };
  const driver = ({ token, endpoint }: Account): MachineDriver => {
    cloud.endpoint = endpoint ?? "its own";
    return {
      list: async () => {
        cloud.lists++;
        if (token !== cloud.key) throw new Fault("BadCredentials", "cloud", "the key is refused");
        return cloud.machines;
      },
    } as unknown as MachineDriver;
  };
  const http = (ca: string | undefined) => {
    cloud.ca = ca;
    return async () => assert.fail("the driver asks nobody");
  };
  const ports = { clock, log: quietLog, http, endpoints: { latitude: "https://usual.test" } };
  const accounts = new Accounts({ latitude: (account) => driver(account as Account) }, ports);
  const manager = createManager({ transport: api.transport(), clock, random, log: quietLog, leaderElection: false });
  manager.add(providerController(accounts, { namespace: NAMESPACE, secret: "own" }, "providers"));
  void manager.start();
  t.after(async () => {
    const stopped = manager.stop();
    await clock.run(MINUTE);
    await stopped;
    await api.close();
  });
  await client.create(MachineProvider, { metadata: { name: "metal" }, spec: { ...SPEC, ...spec } });
  const provider = () => client.get(MachineProvider, { name: "metal" });
  const ready = async () => (await provider()).status?.conditions?.find(({ type }) => type === "Ready");
  const key = async (values: Record<string, string>, name = "key"): Promise<void> => {
    const ref = { namespace: NAMESPACE, name };
    const before = await client.find(Secret, ref);
    if (before === undefined) await client.create(Secret, { metadata: ref, data: data(values) });
    else await client.update(Secret, { ...before, data: data(values) });
  };
  return { clock, client, cloud, provider, ready, key };
}

test("an account that can be used is Ready, with the machines in it that are Slipway's", async (t) => {
  const { clock, cloud, provider, ready, key } = await stage(t);
  cloud.machines = [aMachine(), aMachine({ id: "m-2", claim: undefined }), aMachine({ id: "m-3" })];
  await key({ METAL_AUTH_TOKEN: " right\n", PROJECT_ID: "p" });
  await clock.run(2 * MINUTE);

  const condition = await ready();
  assert.deepEqual([condition?.status, condition?.reason], ["True", "Usable"]);
  const { metadata, status } = await provider();
  assert.equal(status?.machines, 2);
  assert.deepEqual([status?.observedGeneration, condition?.observedGeneration], [1, 1]);
  assert.equal(metadata.generation, 1);
  assert.equal(cloud.endpoint, "https://usual.test");
  assert.equal(cloud.ca, undefined);
});

test("it is looked at once a minute, and written only when something has changed", async (t) => {
  const { clock, cloud, provider, key } = await stage(t);
  await key({ METAL_AUTH_TOKEN: "right", PROJECT_ID: "p" });
  await clock.run(5 * MINUTE);
  const { resourceVersion } = (await provider()).metadata;
  const before = cloud.lists;
  await clock.run(10 * MINUTE);
  assert.equal(cloud.lists, before + 10);
  assert.equal((await provider()).metadata.resourceVersion, resourceVersion);
  cloud.machines = [];
  await clock.run(MINUTE);
  assert.equal((await provider()).status?.machines, 0);
});

test("after a refused key any change of the MachineProvider reads the Secret at once", async (t) => {
  const { clock, client, cloud, provider, ready, key } = await stage(t);
  await key({ METAL_AUTH_TOKEN: "right", PROJECT_ID: "p" });
  await clock.run(2 * MINUTE);
  cloud.key = "rotated";
  await clock.run(MINUTE);
  assert.equal((await ready())?.reason, "BadCredentials");
  await key({ METAL_AUTH_TOKEN: "rotated", PROJECT_ID: "p" });
  const object = await provider();
  await client.update(MachineProvider, { ...object, spec: { ...object.spec, metroMapping: { here: "there" } } });
  await clock.run(1_000);
  assert.equal((await ready())?.status, "True");
});

test("a refused key is reported, keeps the count, and the next look reads it anew", async (t) => {
  const { clock, cloud, provider, ready, key } = await stage(t);
  await key({ METAL_AUTH_TOKEN: "right", PROJECT_ID: "p" });
  await clock.run(2 * MINUTE);
  cloud.key = "rotated";
  await clock.run(MINUTE);
  assert.deepEqual([(await ready())?.status, (await ready())?.reason], ["False", "BadCredentials"]);
  assert.equal((await provider()).status?.machines, 1);
  await key({ METAL_AUTH_TOKEN: "rotated", PROJECT_ID: "p" });
  await clock.run(MINUTE);
  assert.equal((await ready())?.status, "True");
});

test("what is missing is named with what to do: the Secret, a key of it, the authority's certificate", async (t) => {
  const tls = { caSecretRef: { name: "authority", key: "root.pem" } };
  const credentialsSecretRef = { name: "key", tokenKey: "token", projectKey: "team" };
  const endpoint = "https://metal.test";
  const { clock, cloud, ready, key } = await stage(t, { tls, credentialsSecretRef, endpoint });
  const said = async (): Promise<string | undefined> => {
    await clock.run(2 * MINUTE);
    const condition = await ready();
    return condition?.status === "False" ? condition.message : condition?.reason;
  };
  const authority = "Secret/slipway/authority: the Secret does not exist; create it with root.pem";
  assert.equal(await said(), authority);
  await key({ "root.pem": "PEM" }, "authority");
  assert.equal(await said(), "Secret/slipway/key: the Secret does not exist; create it with token and team");
  await key({ token: "right", team: " " });
  assert.equal(await said(), "Secret/slipway/key: the Secret has no key team; add the key team");
  await key({ token: "right", team: "p" });
  assert.equal(await said(), "Usable");
  assert.deepEqual([cloud.ca, cloud.endpoint], ["PEM", "https://metal.test"]);
});

test("a Secret that is created after the MachineProvider is taken up within seconds", async (t) => {
  const { clock, ready, key } = await stage(t);
  await clock.run(2 * MINUTE);
  assert.equal((await ready())?.reason, "MissingInput");
  await key({ METAL_AUTH_TOKEN: "right", PROJECT_ID: "p" });
  await clock.run(6_000);
  assert.equal((await ready())?.status, "True");
});

test("a MachineProvider is an account with credentials, or hosts with plans, never both", async (t) => {
  const { clock, client } = await stage(t);
  const inventory = { plans: { any: {} } };
  const refusal = async (spec: object): Promise<string> => {
    const created = client.create(MachineProvider, {
      metadata: { name: "other" },
      spec: spec as MachineProvider["spec"],
    });
    const message = created.then(
      () => "created",
      (error: Error) => error.message,
    );
    await clock.run(1_000);
    return message;
  };
  assert.match(await refusal({ type: "inventory" }), /inventory is required/);
  assert.match(await refusal({ ...SPEC, inventory }), /inventory is required for the type inventory, and only there/);
  assert.match(await refusal({ type: "latitude" }), /credentialsSecretRef is required/);
  assert.match(await refusal({ type: "inventory", inventory, endpoint: "https://a.test" }), /neither an endpoint/);
  assert.match(await refusal({ type: "inventory", inventory: { plans: {} } }), /at least one plan/);
  const memory = { plans: { any: { hardware: { memory: "much" } } } };
  assert.match(await refusal({ type: "inventory", inventory: memory }), /memory/);
  assert.equal(await refusal({ type: "inventory", inventory }), "created");
  const { spec } = await client.get(MachineProvider, { name: "other" });
  assert.deepEqual(spec.inventory, { namespaces: ["slipway-hosts"], plans: { any: {} }, setAsideAfter: 2 });
});
