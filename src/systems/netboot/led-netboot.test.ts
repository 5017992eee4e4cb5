import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, isFault, type Log, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, type Controller, createClient, type Ref, type Transport } from "@slipway/kube";
import { failure } from "@slipway/kube/testing";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import type { Hosts } from "../../netboot/hosts/hosts.ts";
import { someHosts } from "../../netboot/hosts/testing.ts";
import type { Netboot } from "../../netboot/service/service.ts";
import { netbootSettings } from "../../netboot/settings.ts";
import { ledNetboot, prepareDiscovery } from "./led-netboot.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";

interface Started {
  hosts: Hosts;
  give: PromiseWithResolvers<void>;
  closing: boolean;
  closed: PromiseWithResolvers<void>;
}

/** A manager that leads when it is reported, and services that start and close when they are reported. */
function stage() {
  const clock = new VirtualClock();
  const errors: string[] = [];
  const log: Log = {
    ...quietLog,
    error: (fields, message) => void errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  const started: Started[] = [];
  const start = async (): Promise<Netboot> => {
    const { promise, ...settle } = Promise.withResolvers<void>();
    const one: Started = {
      hosts: someHosts(clock),
      give: { promise, ...settle },
      closing: false,
      closed: Promise.withResolvers(),
    };
    started.push(one);
    await promise;
    return {
      hosts: one.hosts,
      close() {
        one.closing = true;
        return one.closed.promise;
      },
    } as unknown as Netboot;
  };
  const settings = netbootSettings({ dhcp: { mode: "off" } }, "test");
  const led = ledNetboot(settings, { start, log, clock });
  const controllers = led.controllers;
  const controller = (name: string): Controller => controllers.find((each) => each.name === name)!;
  const lead = (): (() => void) => controller("netboot").listen!(() => {}) as () => void;
  const discovered = (): { names: string[]; stop: () => void } => {
    const names: string[] = [];
    const stop = controller("discovery").listen!(({ name }: Ref) => void names.push(name)) as () => void;
    return { names, stop };
  };
  return { clock, errors, started, led, lead, discovered };
}

test("N6 a lease that comes again while the first service is closing starts the next one when the ports are free", async () => {
  const { clock, started, led, lead } = stage();
  const lose = lead();
  await clock.settle();
  started[0]!.give.resolve();
  await clock.settle();
  assert.notEqual(led.current(), undefined);

  lose();
  const loseAgain = lead();
  await clock.settle();
  assert.deepEqual([started[0]!.closing, started.length, led.current()], [true, 1, undefined]);

  started[0]!.closed.resolve();
  await clock.settle();
  assert.equal(started.length, 2);
  started[1]!.give.resolve();
  await clock.settle();
  assert.equal(led.current()?.hosts, started[1]!.hosts);

  loseAgain();
  started[1]!.closed.resolve();
  await led.closed();
  assert.deepEqual([started.length, led.current(), clock.pending], [2, undefined, 0]);
});

test("a lease that goes while the service starts closes it once it has started", async () => {
  const { clock, started, led, lead } = stage();
  lead()();
  await led.closed();
  assert.equal(started.length, 0);

  const lose = lead();
  await clock.settle();
  lose();
  started[0]!.give.resolve();
  started[0]!.closed.resolve();
  await led.closed();
  assert.deepEqual([started[0]!.closing, led.current()], [true, undefined]);
});

test("N6 a start that fails is reported with its remedy and tried again in five seconds, as long as the lease is held", async () => {
  const { clock, errors, started, led, lead } = stage();
  const lose = lead();
  await clock.settle();
  started[0]!.give.reject(new Fault("Unavailable", "port 67", "bind: EADDRINUSE", { remedy: "stop what listens" }));
  await clock.settle();
  assert.match(errors.join(), /could not be started.*port 67: bind: EADDRINUSE; stop what listens/);

  await clock.run(4_999);
  assert.equal(started.length, 1);
  await clock.run(1);
  assert.equal(started.length, 2);
  started[1]!.give.reject(new Error("again"));
  await clock.settle();
  lose();
  assert.equal(clock.pending, 0);
  await clock.run(60_000);
  assert.equal(started.length, 2);
  await led.closed();
});

test("a start that fails after the lease has gone is not tried again", async () => {
  const { clock, started, led, lead } = stage();
  const lose = lead();
  await clock.settle();
  lose();
  started[0]!.give.reject(new Error("too late"));
  await led.closed();
  assert.equal(clock.pending, 0);
});

test("a service that can't be closed well does not keep the next one from starting", async () => {
  const { clock, errors, started, led, lead } = stage();
  const lose = lead();
  await clock.settle();
  started[0]!.give.resolve();
  await clock.settle();
  lose();
  started[0]!.closed.reject(new Error("disk full"));
  lead();
  await clock.settle();
  assert.match(errors.join(), /could not be closed.*disk full/);
  started[1]!.give.resolve();
  await clock.settle();
  assert.equal(led.current()?.hosts, started[1]!.hosts);
});

test("discovery sees the hosts of the service that runs, whichever started first", async () => {
  const { clock, started, lead, discovered } = stage();
  const early = discovered();
  const lose = lead();
  await clock.settle();
  started[0]!.hosts.seen({ mac: A });
  assert.deepEqual(early.names, []);
  started[0]!.give.resolve();
  await clock.settle();
  assert.deepEqual(early.names, ["host-52-54-00-00-00-0a"]);
  started[0]!.hosts.seen({ mac: B });
  assert.deepEqual(early.names.slice(1), ["host-52-54-00-00-00-0b"]);
  early.stop();
  const late = discovered();
  assert.deepEqual(late.names.sort(), ["host-52-54-00-00-00-0a", "host-52-54-00-00-00-0b"]);

  lose();
  started[0]!.closed.resolve();
  await clock.settle();
  assert.deepEqual(discovered().names, []);
});

test("N10 with a cluster to copy them to, every start shares its leases in the namespace of the hosts; without one, none", async () => {
  const given: unknown[] = [];
  for (const client of [{} as Client, undefined]) {
    const clock = new VirtualClock();
    const { discovery } = netbootSettings({ dhcp: { mode: "off" } }, "x");
    const settings = { discovery: { ...discovery, namespace: "of-the-hosts" } };
    const start = async (leases: unknown): Promise<Netboot> => {
      given.push(leases);
      throw new Error("not now");
    };
    const { controllers } = ledNetboot(settings, { start, log: quietLog, clock, ...(client && { client }) });
    const lose = controllers.find(({ name }) => name === "netboot")!.listen!(() => {}) as () => void;
    await clock.settle();
    lose();
  }
  assert.deepEqual(given, [{ client: {}, namespace: "of-the-hosts", name: "dhcp" }, undefined]);
});

test("discovery's namespace is made where it is missing, left alone where it is there, and asked for where it may not be made", async (t) => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const inner = api.transport();
  const creations: string[] = [];
  let isForbidden = false;
  const transport: Transport = {
    request(request) {
      if (request.method !== "POST" || request.path !== "/api/v1/namespaces") return inner.request(request);
      creations.push((request.body as { metadata: { name: string } }).metadata.name);
      return isForbidden ? Promise.resolve(failure(403, "Forbidden", "not you")) : inner.request(request);
    },
    watch: (request) => inner.watch(request),
    close: () => inner.close(),
  };
  const client = createClient(transport, { clock, random, log: quietLog, fieldManager: "slipway" });
  const prepare = async (namespace: string): Promise<void> => {
    const { signal } = new AbortController();
    const settings = { discovery: { ...netbootSettings({ dhcp: { mode: "off" } }, "x").discovery, namespace } };
    const done = prepareDiscovery({ client, clock, signal }, settings);
    done.catch(() => {});
    await clock.run(60_000);
    await done;
  };
  await prepare("default");
  await prepare("rack");
  await prepare("rack");
  assert.deepEqual(creations, ["rack"]);
  const lists = [client.list(BareMetalHost), client.list(HardwareData), client.list(HostClaim)];
  const served = await Promise.all([...lists, client.list(HostDeployPolicy)]);
  assert.deepEqual(
    served.map(({ items }) => items.length),
    [0, 0, 0, 0],
  );
  isForbidden = true;
  await assert.rejects(
    prepare("other"),
    (error) => isFault(error, "Forbidden") && error.remedy === "kubectl create namespace other",
  );
});

test("machines are those of the service that runs; while none does, none is known and none takes an order", async () => {
  const { clock, started, led, lead } = stage();
  const { machines } = led;
  const name = "host-52-54-00-00-00-0a";
  const refuses = (work: () => unknown) =>
    assert.throws(work, (error) => isFault(error, "Unavailable") && /does not serve here/.test(error.message));
  const isAway = async () => {
    assert.deepEqual(
      [machines.isServing(), machines.get(name), machines.standing(name).trust],
      [false, undefined, "discovered"],
    );
    refuses(() => machines.setBoot(name, "disk"));
    refuses(() => machines.askBoot(A, "x86_64"));
    await assert.rejects(machines.order(name, { order: "inspect" } as never, "id"), (error) =>
      isFault(error, "Unavailable"),
    );
    machines.forget(name);
  };
  await isAway();
  const lose = lead();
  await clock.settle();
  started[0]!.give.resolve();
  await clock.settle();
  started[0]!.hosts.seen({ mac: A });
  assert.deepEqual([machines.isServing(), machines.get(name)?.mac], [true, A]);
  machines.setBoot(name, "disk");
  assert.equal(started[0]!.hosts.get(name)?.boot, "disk");
  machines.forget(name);
  assert.equal(machines.get(name), undefined);
  lose();
  started[0]!.closed.resolve();
  await led.closed();
  await isAway();
});
