/** Many HostClaims that wait for many hosts: what is asked of the API grows as they do, and no faster. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { MAX_GROWTH } from "@slipway/base/testing";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, createManager, type Transport } from "@slipway/kube";
import { hostClaimController } from "../../src/inventory/claims/host-claim-controller.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { beginApi, numbers, type WorldApi } from "./api.ts";

const SECOND = 1_000;
/** What a host on its way writes of itself before it is available. */
const STATES = ["registering", "inspecting", "preparing", "available"] as const;

function counted(inner: Transport, count: () => void): Transport {
  return {
    ...inner,
    watch: (request) => inner.watch(request),
    request(request) {
      count();
      return inner.request(request);
    },
  };
}

/** How many requests it takes until each claim has a host, where the hosts become available one after the other. */
async function requestsFor(count: number): Promise<number> {
  const api: { of?: WorldApi } = {};
  const clock = new VirtualClock(undefined, () => api.of?.outside());
  const random = seededRandom(1);
  const ports = { clock, random, log: quietLog };
  const passes = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const done = promise.finally(() => {
      isSettled = true;
    });
    done.catch(() => {});
    assert.ok(await clock.run(600 * SECOND, () => isSettled), "it does not end");
    return done;
  };
  const world = await beginApi(clock, random);
  api.of = world;
  let requests = 0;
  const manager = createManager({
    transport: counted(world.transport("operator"), () => requests++),
    ...ports,
    leaderElection: false,
  });
  try {
    const client = createClient(world.transport("administrator"), ports);
    const { signal } = new AbortController();
    await passes(installCrds(client, clock, signal, METAL3_KINDS));
    await passes(ensureNamespace(client, DISCOVERY_NAMESPACE, signal));
    const namespace = DISCOVERY_NAMESPACE;
    const all = numbers(1, count);
    for (const n of all) {
      const metadata = { name: `node-${n}`, namespace };
      await passes(client.create(BareMetalHost, { metadata, spec: { online: true } } as never));
      const claim = { metadata: { name: `claim-${n}`, namespace }, spec: { poweredOn: true } };
      await passes(client.create(HostClaim, claim as never));
    }
    manager.add(hostClaimController({ drivenElsewhere: async () => undefined }));
    await passes(manager.start());
    await clock.run(5 * SECOND);
    for (const state of STATES)
      for (const n of all) {
        const host = await passes(client.get(BareMetalHost, { name: `node-${n}`, namespace }));
        const status = { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning: { state, ID: "" } };
        await passes(client.updateStatus(BareMetalHost, { ...host, status: status as never }));
        await clock.run(SECOND / 10);
      }
    await clock.run(5 * SECOND);
    const { items } = await passes(client.list(BareMetalHost));
    const claims = new Set(items.map(({ spec }) => spec.consumerRef?.name));
    assert.equal(claims.size, count, "each claim has a host");
    return requests;
  } finally {
    await passes(manager.stop()).catch(() => {});
    await world.close();
  }
}

test("twice as many claims and hosts take no more than 2.5 times the requests", async () => {
  const [few, many] = [await requestsFor(8), await requestsFor(16)];
  assert.ok(many <= MAX_GROWTH * few, `${few} requests became ${many}`);
});
