import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { hostOrder } from "./host-order.ts";
import type { HostOrder } from "./user-orders.ts";

const hostOf = (namespace: string, name: string, bootMACAddress?: string): BareMetalHost =>
  ({
    metadata: { namespace, name },
    spec: { online: true, bootMACAddress },
    status: { provisioning: { state: "preparing" } },
  }) as never;

const HOSTS = [
  hostOf("rack", "node-1", "52:54:00:AA:00:01"),
  hostOf("rack", "node-2"),
  hostOf("lab", "node-2", "52:54:00:aa:00:02"),
];

/** Orders something of one of `HOSTS`. `states`: what each look after the order shows; undefined: it is gone. */
async function ordered(
  host: string,
  {
    states = [],
    wait = true,
    timeoutMs = 60_000,
  }: { states?: (string | undefined)[]; wait?: boolean; timeoutMs?: number } = {},
) {
  const clock = new VirtualClock();
  const said: string[] = [];
  const patched: string[] = [];
  const shown = (is: BareMetalHost, state: string): BareMetalHost =>
    ({ ...is, status: { provisioning: { state } } }) as never;
  let last = HOSTS[0]!;
  const client = {
    list: async () => ({ items: HOSTS }),
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) =>
      HOSTS.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    patch: async (_: unknown, { namespace, name }: { namespace: string; name: string }, { body }: { body: object }) => {
      patched.push(`${namespace}/${name} ${JSON.stringify(body)}`);
      last = HOSTS.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)!;
      return last;
    },
    find: async () => {
      const state = states.length > 1 ? states.shift() : states[0];
      return state === undefined ? undefined : shown(last, state);
    },
  } as unknown as Client;
  const order: HostOrder = {
    check() {},
    patch: { spec: { online: true } },
    isDone: ({ status }) => status?.provisioning?.state === "available",
  };
  const work = hostOrder({ host, order, wait, timeoutMs }, { client, clock, say: (line) => void said.push(line) });
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  await clock.run(10 * 60_000, () => isOver);
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { said, patched, failure, waitedMs: clock.monotonic() };
}

test("a host is named by its name, with its namespace, or by its card", async () => {
  for (const [named, is] of [
    ["node-1", "rack/node-1"],
    ["host/node-1", "rack/node-1"],
    ["bmh/rack/node-2", "rack/node-2"],
    ["lab/node-2", "lab/node-2"],
    ["52:54:00:aa:00:01", "rack/node-1"],
    ["52:54:00:AA:00:02", "lab/node-2"],
  ] as const) {
    const { patched, failure } = await ordered(named, { wait: false });
    assert.deepEqual([failure, patched], [undefined, [`${is} {"spec":{"online":true}}`]], named);
  }
  for (const named of ["node-3", "lab/node-1", "no name", ""]) {
    const { failure, patched } = await ordered(named);
    assert.ok(isFault(failure, "NotFound"), named);
    assert.match(failure.advice, /no such BareMetalHost.*kubectl get bmh -A/);
    assert.deepEqual(patched, []);
  }
  const { failure } = await ordered("node-2");
  assert.ok(isFault(failure, "BadRequest"));
  assert.match(failure.advice, /several: rack\/node-2, lab\/node-2.*with its namespace/);
});

test("each step is printed once until it is done, a look every two seconds", async () => {
  const states = ["preparing", "preparing", "inspecting", "available"];
  const { said, failure, waitedMs } = await ordered("node-1", { states });
  assert.deepEqual([failure, said, waitedMs], [undefined, ["preparing", "inspecting", "done"], 8_000]);
  assert.deepEqual((await ordered("node-1", { wait: false })).said, ["asked for"]);
});

test("an order that is not done in time stays, and the failure says what the host waits for", async () => {
  const { failure, waitedMs } = await ordered("node-1", { states: ["preparing"], timeoutMs: 60_000 });
  assert.ok(isFault(failure, "Timeout"));
  assert.match(failure.advice, /not done within 1m0s: preparing.*goes on without this command/);
  assert.equal(waitedMs, 60_000);
});

test("a host that is deleted meanwhile ends the wait", async () => {
  const { failure } = await ordered("node-1", { states: [undefined] });
  assert.ok(isFault(failure, "NotFound"));
  assert.match(failure.message, /deleted meanwhile/);
});
