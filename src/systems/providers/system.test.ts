import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Accounts } from "../../machines/accounts.ts";
import type { SystemPorts } from "../system.ts";
import { ABANDONED_MACHINES, abandonedAccess, writeAbandoned } from "./abandoned.ts";
import { providers } from "./system.ts";

test("each cloud's API may have another base URL, by the environment, and what is no URL of the web is refused", () => {
  const read = (settings: object) => providers.endpoints?.(providers.settings.parse(settings) as never);
  const [equinixEndpoint, latitudeEndpoint] = ["http://127.0.0.1:1/metal/v1", "https://latitude.test"];
  assert.deepEqual(read({ equinixEndpoint, latitudeEndpoint }), {
    equinix: equinixEndpoint,
    latitude: latitudeEndpoint,
  });
  assert.deepEqual(read({}), { equinix: undefined, latitude: undefined });
  for (const wrong of ["ftp://a.test", "a.test", ""]) assert.throws(() => read({ equinixEndpoint: wrong }), wrong);
});

test("it looks at MachineProviders, and at hosts whose turn ends, with the rights for both", () => {
  const ports = { accounts: {} as Accounts, account: { namespace: "ns", secret: "own" } } as unknown as SystemPorts;
  const { controllers, access } = providers.parts(ports, {});
  assert.deepEqual(
    controllers.map(({ name, system }) => [name, system]),
    [
      ["machineprovider", "providers"],
      ["host-turn", "providers"],
    ],
  );
  assert.deepEqual(
    access?.map(({ resource, verbs }) => [resource.kind, verbs.join()]),
    [["BareMetalHost", "get,list,patch"]],
  );
});

/** A cluster whose ConfigMap of what was abandoned is there or not; `fails`: how a creation ends. */
function cluster(fails?: unknown) {
  const written: unknown[] = [];
  const context = {
    clock: { now: () => 0 },
    clean: (value: object) => JSON.parse(JSON.stringify(value).replaceAll("hidden", "[redacted]")),
    client: {
      create: async (_: unknown, { metadata, data }: { metadata: object; data: object }) => {
        if (fails !== undefined) throw fails;
        written.push(["create", metadata, data]);
      },
      patch: async (_: unknown, ref: object, { type, body }: { type: string; body: object }) =>
        void written.push([type, ref, body]),
    },
  } as unknown as Context;
  return { written, context };
}
const REF = { namespace: "ns", name: "slipway-abandoned-machines" };
const DATA = { "a.b": '{"machine":"m-1","reason":"[redacted]","abandonedAt":"1970-01-01T00:00:00.000Z"}' };

test("B49 what is left at a provider is an entry of its own, without secrets, beside those that are there", async () => {
  const entry = { key: "a.b", record: { machine: "m-1", reason: "hidden" } };
  const fresh = cluster();
  assert.equal(await writeAbandoned(fresh.context, "ns", entry), "ConfigMap ns/slipway-abandoned-machines");
  assert.deepEqual(fresh.written, [["create", REF, DATA]]);
  const held = cluster(new Fault("AlreadyExists", "it", "is there"));
  await writeAbandoned(held.context, "ns", entry);
  assert.deepEqual(held.written, [["merge", REF, { data: DATA }]]);
  const refused = cluster(new Fault("Forbidden", "it", "not you"));
  await assert.rejects(writeAbandoned(refused.context, "ns", entry), (error) => isFault(error, "Forbidden"));
  assert.deepEqual(
    abandonedAccess("ns").map(({ verbs, namespace, names }) => [verbs.join(), namespace, names?.join()]),
    [
      ["create", "ns", undefined],
      ["patch", "ns", ABANDONED_MACHINES],
    ],
  );
});
