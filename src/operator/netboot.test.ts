import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import { type Log, quietLog } from "../base/log.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import type { Controller } from "../kube/controller.ts";
import type { Manager } from "../kube/manager.ts";
import type { Ref } from "../kube/object.ts";
import type { Hosts } from "../netboot/hosts/hosts.ts";
import { someHosts } from "../netboot/hosts/testing.ts";
import type { Netboot } from "../netboot/service/service.ts";
import { netbootSettings } from "../netboot/settings.ts";
import { addNetboot } from "./netboot.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";

interface Started {
  hosts: Hosts;
  give: PromiseWithResolvers<void>;
  closing: boolean;
  closed: PromiseWithResolvers<void>;
}

/** A manager that leads when it is told, and services that start and close when they are told. */
function stage() {
  const clock = new VirtualClock();
  const controllers: Controller[] = [];
  const manager = { add: (controller: Controller) => void controllers.push(controller) } as unknown as Manager;
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
  const led = addNetboot(manager, settings, { start, log, clock });
  const controller = (name: string): Controller => controllers.find((each) => each.name === name)!;
  const lead = (): (() => void) => controller("netboot").listen!(() => {}) as () => void;
  const discovered = (): { names: string[]; stop: () => void } => {
    const names: string[] = [];
    const stop = controller("discovery").listen!(({ name }: Ref) => void names.push(name)) as () => void;
    return { names, stop };
  };
  return { clock, errors, started, led, lead, discovered };
}

test("a lease that comes again while the first service is closing starts the next one when the ports are free", async () => {
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

test("a start that fails is told with its remedy and tried again in five seconds, as long as the lease is held", async () => {
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
  started[0]!.hosts.heard({ mac: A });
  assert.deepEqual(early.names, []);
  started[0]!.give.resolve();
  await clock.settle();
  assert.deepEqual(early.names, ["host-52-54-00-00-00-0a"]);
  started[0]!.hosts.heard({ mac: B });
  assert.deepEqual(early.names.slice(1), ["host-52-54-00-00-00-0b"]);
  early.stop();
  const late = discovered();
  assert.deepEqual(late.names.sort(), ["host-52-54-00-00-00-0a", "host-52-54-00-00-00-0b"]);

  lose();
  started[0]!.closed.resolve();
  await clock.settle();
  assert.deepEqual(discovered().names, []);
});
