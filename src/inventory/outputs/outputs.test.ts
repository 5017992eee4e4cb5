import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { inventoryOf, someHosts } from "../../netboot/hosts/testing.ts";
import { HostLogs } from "../../netboot/logs/host-logs.ts";
import { bootLogs } from "./boot-log.ts";
import { OutputFeeds } from "./feeds.ts";
import { joinedOutputs, type OpenOutput } from "./outputs.ts";
import { OutputTail } from "./tail.ts";

const textOf = ({ tail }: Pick<OpenOutput, "tail">): string =>
  Buffer.from(tail.from(tail.begin, Number.MAX_SAFE_INTEGER)).toString();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a tail keeps the last bytes of whatever came, and reads any part of them", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 50 }), fc.nat(60), fc.nat(60), (all, most, skip, length) => {
      const tail = new OutputTail(most);
      for (const chunk of all) tail.push(chunk);
      const whole = Buffer.concat(all);
      const begin = Math.max(0, whole.length - most);
      assert.deepEqual([tail.begin, tail.end], [begin, whole.length]);
      const offset = Math.min(tail.end, begin + skip);
      assert.deepEqual(Buffer.from(tail.from(offset, length)), whole.subarray(offset, offset + length));
    }),
  );
});

test("a machine that sends byte by byte costs a reader no more than 2.5 times the work for twice the bytes", () => {
  const growth = cpuGrowth(
    (n) => () => {
      const tail = new OutputTail();
      let read = 0;
      tail.listen(() => {
        read += tail.from(read, 12 * 1024).length;
      });
      for (let i = 0; i < n; i++) tail.push(Buffer.of(65));
      assert.equal(read, n);
    },
    20_000,
  );
  assert.ok(growth <= MAX_GROWTH, `${growth}`);
});

test("256 KiB of an output are kept unless another number is given", () => {
  const tail = new OutputTail();
  for (let i = 0; i < 300; i++) tail.push(Buffer.alloc(1_024));
  assert.equal(tail.end - tail.begin, 256 * 1024);
});

test("an output is followed once for all its readers, and for 15 seconds after the last", async () => {
  const clock = new VirtualClock();
  const feeds = new OutputFeeds(clock);
  let [begun, ended] = [0, 0];
  const follow = (push: (bytes: Uint8Array) => void, signal: AbortSignal): Promise<void> => {
    begun++;
    push(Buffer.from("hello"));
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(void ended++)));
  };
  const [first, second] = [feeds.open("a", follow), feeds.open("a", follow)];
  assert.deepEqual([textOf(first), textOf(second), begun], ["hello", "hello", 1]);
  first.done();
  second.done();
  await clock.run(14_999);
  const third = feeds.open("a", follow);
  await clock.run(20_000);
  assert.deepEqual([begun, ended, feeds.size], [1, 0, 1]);
  third.done();
  await clock.run(15_000);
  assert.deepEqual([begun, ended, feeds.size, third.tail.isOver], [1, 1, 0, true]);
  feeds.open("a", follow);
  assert.equal(begun, 2);
  feeds.close();
  assert.deepEqual([ended, feeds.size], [2, 0]);
});

test("readers are shown why an output can't be followed, and the next reader tries anew", async () => {
  const feeds = new OutputFeeds(new VirtualClock());
  const refused = async (): Promise<void> => {
    throw new Fault("Unavailable", "ipmi://bmc", "no answer", { remedy: "look at its cable" });
  };
  const opened = feeds.open("a", refused);
  await turn();
  assert.match(textOf(opened), /ipmi:\/\/bmc: no answer; look at its cable/);
  assert.deepEqual([opened.tail.isOver, feeds.size], [true, 0]);
  assert.notEqual(feeds.open("a", refused).tail, opened.tail);
});

test("of several who may have an output the first that has one is asked; nobody has what none of them has", async () => {
  const tail = new OutputTail();
  const here = async (): Promise<OpenOutput> => ({ tail, done() {} });
  const { serial, logs } = joinedOutputs([{}, { serial: async () => undefined }, { serial: here }]);
  assert.equal(logs, undefined);
  assert.equal((await serial!({} as KubeObject))?.tail, tail);
});

const MAC = "52:54:00:00:00:0a";

function netboot() {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const logs = new HostLogs({ hosts });
  hosts.seen({ mac: MAC });
  const { host: name } = hosts.register(inventoryOf(MAC), MAC);
  logs.append(MAC, "dhcp", "DISCOVER", 0);
  const feeds = new OutputFeeds(clock);
  const known: BareMetalHost[] = [];
  const at = { serves: true };
  const of = bootLogs({
    current: () => (at.serves ? { hosts, logs } : undefined),
    hosts: async () => known,
    ...{ namespace: "slipway-hosts", feeds },
  });
  return { of, logs, name, known, feeds, at };
}

const bmh = (namespace: string, name: string, mac?: string): BareMetalHost =>
  ({
    ...{ apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost", metadata: { namespace, name, uid: name } },
    spec: { online: true, ...(mac !== undefined && { bootMACAddress: mac }) },
  }) as BareMetalHost;

test("a host's boot log is found by its card, or by the name that discovery gave it, and goes on", async () => {
  const { of, logs, name, feeds } = netboot();
  const byCard = (await of(bmh("rack", "node-1", MAC.toUpperCase())))!;
  await turn();
  assert.equal(textOf(byCard), "1970-01-01T00:00:00.000Z dhcp   DISCOVER\r\n");
  logs.append(MAC, "agent", "ready", 1_000);
  await turn();
  assert.match(textOf(byCard), /00:00:01.000Z agent {2}ready\r\n$/);
  assert.equal((await of(bmh("slipway-hosts", name)))?.tail, byCard.tail);
  feeds.close();
});

test("nobody gets another machine's boot log by its name in another namespace, by another kind, or by a card that two declare", async () => {
  const { of, name, known, at } = netboot();
  assert.equal(await of(bmh("elsewhere", name)), undefined);
  assert.equal(await of({ ...bmh("rack", "a", MAC), kind: "Instance" }), undefined);
  known.push(bmh("rack", "node-1", MAC), bmh("elsewhere", "mine", MAC));
  await assert.rejects(of(known[1]!), /more than one BareMetalHost has its card/);
  at.serves = false;
  assert.equal(await of(known[0]!), undefined);
});
