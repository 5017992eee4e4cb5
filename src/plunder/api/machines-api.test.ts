/** A netboot that gives machines to operators, over TLS on loopback, and the driver that takes them. */
import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { quietLog as log, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { createPlunderDriver } from "../../machines/drivers/plunder/driver.ts";
import type { MachineDriver, Order } from "../../machines/machine.ts";
import { readClientFile } from "../client/client-file.ts";
import { PRESEED, plunderWorld, registered } from "./testing.ts";

const SEED = "https://slipway.example/boot/1/secret-of-the-seed/";

type Plunder = Awaited<ReturnType<typeof plunderWorld>>;

async function credentials({ local }: Plunder, name: string) {
  const { file } = (await local("/v1/plunder/clients", "POST", { name })).body as { file: string };
  return readClientFile(file, "answer").credentials!;
}

/** As an operator has it. `url`: of another server. */
async function driverOf(
  t: TestContext,
  world: Plunder,
  { name = "ci", url = world.server.url, timeoutMs = 0 } = {},
): Promise<MachineDriver> {
  const client = await credentials(world, name);
  const sockets = undiciHttp({ ca: client.authorityPem, client });
  t.after(() => sockets.close());
  const http: typeof sockets = Object.assign(
    (request: Parameters<typeof sockets>[0]) => sockets({ ...request, ...(timeoutMs > 0 && { timeoutMs }) }),
    { close: sockets.close },
  );
  return createPlunderDriver(
    { endpoint: url, client, token: "", project: "", planMapping: {}, metroMapping: {} },
    { http, clock: systemClock, log },
  );
}

function orderOf(claim: string, host: Order["host"] = {}): Order {
  return {
    ...{ claim, claimant: { apiVersion: "v1", kind: "PlunderMachine", namespace: "default", name: claim } },
    ...{ hostname: claim, placement: { plan: "", metro: undefined }, host, operatingSystem: "preseed", tags: [] },
    boot: { scriptUrl: SEED, seedUrl: SEED, userData: "" },
  };
}

const macOf = (number: number): string => `52:54:00:00:01:${number.toString(16).padStart(2, "0")}`;

async function rack(world: Plunder, count: number): Promise<void> {
  await world.ask("/v1/plunder/config/boot/preseed", { method: "POST", body: PRESEED });
  await world.ask("/v1/plunder/deployment/global", { method: "PATCH", body: { username: "ops" } });
  for (let number = 1; number <= count; number++) {
    registered(world.hosts, macOf(number));
    world.hosts.approve(macOf(number));
  }
}

const isFault = (code: string, message: RegExp) => (error: { code?: string; message: string }) => {
  assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
  return true;
};

test("N38 N43 operators that take machines of one netboot at the same time never share one, and no claim gets two", async (t) => {
  const world = await plunderWorld(t);
  await rack(world, 6);
  const drivers = [await driverOf(t, world, { name: "one" }), await driverOf(t, world, { name: "two" })];
  // Each order is sent twice, as after a lost answer.
  const orders = Array.from({ length: 8 }, (_, at) => ({ driver: drivers[at % 2]!, claim: `claim-${at}` }));
  const taken = await Promise.allSettled(
    [...orders, ...orders].map(({ driver, claim }) => driver.create(orderOf(claim))),
  );
  const machines = taken.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const refused = taken.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
  assert.deepEqual([...new Set(refused)], ["NoCapacity"]);
  const byClaim = new Map(machines.map(({ claim, bootMac }) => [claim, bootMac]));
  for (const { claim, bootMac } of machines) assert.equal(byClaim.get(claim), bootMac, "a claim has two machines");
  assert.deepEqual([...new Set(byClaim.values())].length, byClaim.size, "a machine has two claims");
  assert.equal((await drivers[0]!.list()).length, 6);
});

test("N34 what is claimed stays: plunder's own paths neither change nor show it, its seed is in no answer, and a wipe without a proof keeps the machine", async (t) => {
  const world = await plunderWorld(t);
  await rack(world, 1);
  const driver = await driverOf(t, world);
  const machine = await driver.create(orderOf("uid-1"));
  const mac = macOf(1);
  const answers = [];
  for (const path of ["/deployments", `/deployment/${mac}`, "/v1/plunder/machines", "/v1/plunder/progress", "/config"])
    answers.push(JSON.stringify((await world.ask(path)).body));
  assert.ok(!answers.join().includes("secret-of-the-seed"));
  const own = { mac, bootConfigName: "preseed", config: { hostname: "other" } };
  for (const [path, method, body] of [
    [`/v1/plunder/deployment/${mac}`, "DELETE", undefined],
    ["/v1/plunder/deployment", "PATCH", own],
    ["/v1/plunder/deployment", "POST", own],
    ["/v1/plunder/deployments", "POST", { deployments: [own] }],
  ] as const)
    assert.equal((await world.ask(path, { method, ...(body && { body }) })).status, 409, `${method} ${path}`);
  assert.equal((await world.ask("/v1/plunder/deployments", { method: "POST", body: { deployments: [] } })).status, 200);
  assert.deepEqual(
    (await driver.list()).map(({ id }) => id),
    [machine.id],
  );

  await driver.release(machine.id, { force: false });
  assert.equal((await driver.read(machine.id))?.phase, "releasing");
  const { name, order } = world.hosts.get(mac)!;
  assert.equal(order?.is.order, "wipe");
  world.hosts.result(name, order!.is.id, { ok: true, message: "done", disks: [] });
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await holds()); tries++) assert.ok(tries < 500, what);
  };
  await until("the wipe has failed", async () =>
    /nothing is proven of \/dev\/sda/.test((await driver.read(machine.id))?.lastEvent ?? ""),
  );
  assert.equal(await driver.proofOf!(machine.id), undefined);
  await world.clock.run(11 * 60_000);
  await until("it is wiped again", async () => world.hosts.get(mac)!.order!.is.id !== order!.is.id);
  const again = world.hosts.get(mac)!.order!;
  world.hosts.result(name, again.is.id, {
    ok: true,
    message: "done",
    disks: [{ disk: "/dev/sda", how: "metadata", proven: true, detail: "" }],
  });
  await until("it is gone", async () => (await driver.read(machine.id)) === undefined);
  assert.equal(await driver.proofOf!(machine.id), "wiped, and read back: /dev/sda (metadata)");
  assert.deepEqual(await driver.find("uid-1"), []);
  const { body } = await world.ask("/v1/plunder/dhcp/unleased");
  assert.equal((body as unknown as { mac: string }[])[0]?.mac, mac);
  // A request of the claim that was on its way all the time.
  await assert.rejects(driver.create(orderOf("uid-1")), isFault("NoCapacity", /./));
});

test("N38 only machines that the netboot trusts are taken by who names none; one that is named by its MAC, or by its size, is that", async (t) => {
  const world = await plunderWorld(t);
  await rack(world, 1);
  registered(world.hosts, macOf(2));
  const driver = await driverOf(t, world);
  const large = { hardware: { memory: "64Gi" } };
  await assert.rejects(
    driver.create(orderOf("uid-0", large)),
    isFault("NoCapacity", /1 have less than 64Gi of memory, 1 are not approved/),
  );
  assert.equal((await driver.create(orderOf("uid-1", { hardware: { cpus: 2, disk: "4Gi" } }))).bootMac, macOf(1));
  await assert.rejects(driver.create(orderOf("uid-2")), isFault("NoCapacity", /1 are not approved at the netboot/));
  assert.equal(
    (await driver.create(orderOf("uid-2", { macs: [macOf(2).toUpperCase().replaceAll(":", "-")] }))).bootMac,
    macOf(2),
  );
  await assert.rejects(
    driver.create({ ...orderOf("uid-3", { macs: [macOf(2)] }) }),
    isFault("NoCapacity", /none waits/),
  );
  registered(world.hosts, macOf(3));
  world.hosts.approve(macOf(3));
  await assert.rejects(
    driver.create({ ...orderOf("uid-3"), operatingSystem: "none-such" }),
    isFault("MissingInput", /no boot configuration none-such/),
  );
});

test("N36 a neighbour without a certificate, one of another netboot's, one that was revoked, and a body of many MiB are refused", async (t) => {
  const world = await plunderWorld(t);
  await rack(world, 1);
  const driver = await driverOf(t, world);
  const other = await plunderWorld(t);
  const foreign = await driverOf(t, other, { url: world.server.url });
  await assert.rejects(foreign.list(), isFault("UntrustedCertificate", /its certificate is not of the authority/));
  const { client } = { client: await credentials(other, "x") };
  const pinned = undiciHttp({ ca: world.identity.authority, client });
  const naked = undiciHttp({ ca: world.identity.authority });
  t.after(() => Promise.all([pinned.close(), naked.close()]));
  for (const http of [pinned, naked]) {
    const asked = createPlunderDriver(
      { endpoint: world.server.url, token: "", project: "", planMapping: {}, metroMapping: {} },
      { http, clock: systemClock, log },
    );
    await assert.rejects(
      asked.list(),
      (error: { code?: string }) => error.code === "BadCredentials" || error.code === "Unavailable",
    );
    await assert.rejects(asked.create(orderOf("uid-9")), /./);
  }
  const body = JSON.stringify({ holder: "x".repeat(5 * 2 ** 20) });
  assert.equal((await world.ask("/v1/plunder/machines", { method: "POST", body })).status, 413);
  for (const wrong of ["{", '{"mac":1}', `{"mac":"${macOf(1)}","claim":"../x"}`, "[]"])
    assert.equal((await world.ask("/v1/plunder/machines", { method: "POST", body: wrong })).status, 400, wrong);
  assert.equal((await driver.list()).length, 0);
  await world.local("/v1/plunder/clients/ci", "DELETE");
  await assert.rejects(driver.list(), isFault("BadCredentials", /revoked/));
});

/** Something that has the netboot's certificate and says what it likes. */
async function liar(
  t: TestContext,
  world: Plunder,
  answer: (path: string, response: import("node:http").ServerResponse) => void,
): Promise<string> {
  const server = createServer({ ...world.identity.tls }, (request, response) => answer(request.url!, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("N38 a netboot that lies is not believed: answers without end, of 100 MB, of another shape, of another machine, of one machine twice", async (t) => {
  const world = await plunderWorld(t);
  const said = (of: object) => (_: string, response: import("node:http").ServerResponse) =>
    void response.end(JSON.stringify(of));
  const machine = {
    claim: "uid-1",
    holder: "x",
    mac: macOf(1),
    hostname: "x",
    state: "installed",
    message: "",
    createdAt: 1,
  };
  const id = `${macOf(1).replaceAll(":", "-")}/uid-1`;
  const cases: [(path: string, response: import("node:http").ServerResponse) => void, string, RegExp][] = [
    [(_, response) => void response.write('{"machines":['), "Unavailable", /no answer/],
    [(_, response) => void response.end(Buffer.alloc(100e6, " ")), "Unavailable", /larger than/],
    [said({ machines: [{ ...machine, mac: "x" }] }), "Unavailable", /is no machine: machines\.0\.mac/],
    [said({ machines: [{ ...machine, mac: macOf(2) }] }), "Unavailable", /whose machine is/],
    [said({ machines: [machine, machine] }), "Unavailable", /2 machines/],
    [
      (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
      "Unavailable",
      /redirect/,
    ],
    [(_, response) => void response.writeHead(404).end("nothing"), "Unsupported", /gives no machines/],
  ];
  for (const [at, [answer, code, message]] of cases.entries()) {
    const url = await liar(t, world, answer);
    const driver = await driverOf(t, world, { name: `ci-${at}`, url, timeoutMs: at === 0 ? 1_000 : 30_000 });
    await assert.rejects(driver.read(id), isFault(code, message), `case ${at}`);
    await assert.rejects(driver.proofOf!(id), isFault(code, message), `case ${at}`);
  }
  const twice = await driverOf(t, world, {
    name: "twice",
    url: await liar(t, world, said({ machines: [machine, { ...machine, claim: "uid-2" }] })),
  });
  await assert.rejects(twice.list(), isFault("Unavailable", /names a machine twice/));
  const url = await liar(t, world, (path, response) =>
    response.end(
      JSON.stringify({
        machines: path.includes("waiting")
          ? [{ mac: macOf(1), macs: [macOf(1)], isTrusted: true }]
          : [{ ...machine, mac: macOf(2) }],
      }),
    ),
  );
  const other = await driverOf(t, world, { name: "other", url });
  await assert.rejects(other.create(orderOf("uid-1")), isFault("LostAnswer", /named another/));
});
