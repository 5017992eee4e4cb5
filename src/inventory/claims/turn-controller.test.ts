import assert from "node:assert/strict";
import { test } from "node:test";
import { type Context, DONE, type Outcome } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { turnController } from "./turn-controller.ts";

const [GIVEN, AGAIN, ASIDE] = ["slipway.dev/given-back", "slipway.dev/install-again", "slipway.dev/set-aside"];
const consumerRef = { apiVersion: "example.com/v1", kind: "Instance", name: "i-1", uid: "uid-1" };
const image = { url: "http://images/a.raw" };

interface Of {
  annotations?: Record<string, string>;
  spec?: object;
  state?: string;
  conditions?: object[];
}

const hostOf = ({ annotations = {}, spec = { consumerRef }, state = "provisioned", conditions = [] }: Of = {}) =>
  ({
    metadata: { namespace: "rack", name: "node-1", resourceVersion: "7", generation: 3, annotations },
    spec: { online: true, ...spec },
    status: { provisioning: { state, ID: "" }, conditions },
  }) as unknown as BareMetalHost;

/** What one look at the host does. */
async function looked(host: BareMetalHost | undefined) {
  const patched: object[] = [];
  const written: { conditions: object[] }[] = [];
  const told: string[] = [];
  const context = {
    cache: { get: () => host },
    client: {
      patch: async (_: unknown, __: unknown, { body }: { body: object }) => void patched.push(body),
      updateStatus: async (_: unknown, object: { status: { conditions: object[] } }) => {
        written.push(object.status);
        return object;
      },
    },
    clock: { now: () => 0 },
    clean: <T>(value: T): T => value,
    events: {
      warning: (_: unknown, reason: string, message: string) => void told.push(`Warning ${reason} ${message}`),
      normal: (_: unknown, reason: string, message: string) => void told.push(`Normal ${reason} ${message}`),
    },
  } as unknown as Context;
  const outcome: Outcome = await turnController("pool").reconcile({ namespace: "rack", name: "node-1" }, context);
  return { outcome, patched, written, told };
}

test("a host without a word of this, or that is gone, is left alone", async () => {
  for (const host of [undefined, hostOf(), hostOf({ spec: {} })])
    assert.deepEqual(await looked(host), { outcome: DONE, patched: [], written: [], told: [] });
});

test("a host that is given back is emptied, waited for, and let go once it is wiped", async () => {
  const annotations = { [GIVEN]: "uid-1" };
  const installed = await looked(hostOf({ annotations, spec: { consumerRef, image } }));
  assert.deepEqual(installed.outcome, { againAfterMs: 30_000 });
  assert.partialDeepStrictEqual(installed.patched[0], { spec: { image: null, customDeploy: null } });
  for (const state of ["provisioning", "provisioned", "deprovisioning"]) {
    const wiping = await looked(hostOf({ annotations, state }));
    assert.deepEqual([wiping.outcome, wiping.patched], [{ againAfterMs: 30_000 }, []], state);
  }
  const wiped = await looked(hostOf({ annotations, state: "available" }));
  assert.equal(wiped.outcome, DONE);
  assert.partialDeepStrictEqual(wiped.patched[0], { spec: { consumerRef: null } });
});

test("a host is installed anew once it is available, and the word of it is taken off once it is installed", async () => {
  const annotations = { [AGAIN]: JSON.stringify({ image, userData: { name: "u" } }) };
  const patched = async (of: Of) => (await looked(hostOf({ annotations, ...of }))).patched;
  const [again] = await patched({ state: "available" });
  assert.partialDeepStrictEqual(again, {
    metadata: { resourceVersion: "7" },
    spec: { image, userData: { name: "u" }, online: true },
  });
  for (const asked of [{ image }, { customDeploy: { method: "ipxe" } }]) {
    const off = { metadata: { resourceVersion: "7", annotations: { [AGAIN]: null } } };
    assert.deepEqual(await patched({ spec: { consumerRef, ...asked } }), [off]);
    assert.deepEqual(await patched({ spec: { consumerRef, ...asked }, state: "provisioning" }), []);
    assert.deepEqual(await patched({ spec: { consumerRef, ...asked }, state: "available" }), []);
  }
  assert.deepEqual(await patched({ state: "deprovisioning" }), []);
  assert.deepEqual(await patched({ state: "provisioned" }), [], "what was installed is not removed yet");
  assert.deepEqual(await patched({ spec: {}, state: "available" }), [], "it is nobody's");
});

test("a host that is set aside says so once, with what a person does then, and once when it is given again", async () => {
  const reason = "3 installations failed; the last: no disk";
  const annotations = { [ASIDE]: reason };
  const first = await looked(hostOf({ annotations }));
  assert.deepEqual(first.told, [`Warning SetAside ${reason}`]);
  assert.partialDeepStrictEqual(first.written[0]!.conditions[0], {
    ...{ type: "SetAside", status: "True", reason: "InstallationsFailed", observedGeneration: 3 },
    message: `${reason}; take the annotation slipway.dev/set-aside off when it is mended`,
  });
  const aside = { type: "SetAside", status: "True", reason: "InstallationsFailed", message: reason };
  assert.deepEqual((await looked(hostOf({ annotations, conditions: [aside] }))).told, []);
  const other = { type: "Ready", status: "True", reason: "Available", message: "" };
  const over = await looked(hostOf({ conditions: [other, aside] }));
  assert.deepEqual(over.told, ["Normal GivenAgain it is given to those who ask for hosts"]);
  assert.partialDeepStrictEqual(over.written[0]!.conditions, [
    other,
    { type: "SetAside", status: "False", reason: "GivenAgain" },
  ]);
  const again = { ...aside, status: "False", reason: "GivenAgain" };
  assert.deepEqual((await looked(hostOf({ conditions: [again] }))).told, []);
  assert.deepEqual((await looked(hostOf({ annotations, conditions: [again] }))).told, [`Warning SetAside ${reason}`]);
});

test("of changed hosts only those that are given back, installed again or set aside are looked at, and those that were set aside", () => {
  const { when } = turnController("pool").sources[0] as unknown as {
    when(host: BareMetalHost, before: BareMetalHost): boolean;
  };
  assert.equal(when(hostOf(), hostOf()), false);
  for (const annotations of [{ [GIVEN]: "uid-1" }, { [AGAIN]: "{}" }, { [ASIDE]: "x" }])
    assert.equal(when(hostOf({ annotations }), hostOf()), true, Object.keys(annotations)[0]);
  assert.equal(when(hostOf(), hostOf({ annotations: { [ASIDE]: "x" } })), true);
  assert.equal(when(hostOf(), hostOf({ annotations: { [AGAIN]: "{}" } })), false);
  assert.equal(when(hostOf({ annotations: { [GIVEN]: "uid-0" } }), hostOf()), false);
});
