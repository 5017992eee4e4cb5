import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Http, isFault, json } from "@slipway/base";
import { order, rig } from "./rig.ts";

const HOUR = 3_600_000;
const CLAIM = order().claim;

/** Lets requests through until `broken` picks one, which has its effect and loses its answer. */
function losing(broken: (request: { method: string; url: string }) => boolean): (http: Http) => Http {
  return (http) => async (request) => {
    const answer = await http(request);
    if (broken(request)) throw new Fault("LostAnswer", "test", "the answer was lost");
    return answer;
  };
}

test("a machine is bought, boots the script from the network, and is given back with its user data", async () => {
  const { driver, sim, firmware, until, clock } = rig();

  const bought = await driver.create(order());
  assert.equal(bought.phase, "building");
  assert.equal(bought.claim, CLAIM);
  const running = await until(bought.id, "running");
  assert.deepEqual(firmware.boots[0]?.boot, { scriptUrl: "https://boot.test/script", userData: "#cloud-config\n" });
  assert.equal(running.plan, "c3-small-x86");
  assert.equal(running.metro, "DAL");
  assert.equal(running.addresses[0]?.management, true);
  assert.deepEqual(
    running.ports.map((port) => port.name),
    ["eth0", "eth1"],
  );

  await driver.release(bought.id, { force: false });
  assert.equal((await driver.read(bought.id))?.phase, "releasing");
  assert.deepEqual(sim.userData(), []);
  await clock.run(HOUR);
  assert.equal(await driver.read(bought.id), undefined);
  assert.deepEqual(firmware.wiped, ["pool-abcdefgh"]);
  await driver.release(bought.id, { force: true });
});

test("a lost answer to the order never buys a second machine: the look finds the first, by another process too", async () => {
  const { driver, sim, restarted } = rig({
    wrap: losing(({ method, url }) => method === "POST" && url.endsWith("/servers")),
  });

  assert.deepEqual(await driver.find(CLAIM), []);
  await assert.rejects(driver.create(order()), (error) => isFault(error, "LostAnswer"));

  for (const looker of [driver, restarted()]) {
    const found = await looker.find(CLAIM);
    assert.deepEqual(
      found.map((machine) => [machine.id, machine.claim]),
      [[sim.boughtEver()[0]?.id, CLAIM]],
    );
  }
  assert.equal(sim.boughtEver().length, 1);
});

test("an order whose mark was lost on the way buys nothing, and the orphaned mark is removed in time", async () => {
  let lose = true;
  const { driver, sim, clock, restarted } = rig({
    wrap: losing(({ method, url }) => lose && method === "POST" && url.endsWith("/user_data")),
  });
  await assert.rejects(driver.create(order()), Fault);
  assert.deepEqual([sim.boughtEver().length, sim.userData().length], [0, 1]);

  lose = false;
  await driver.create(order());
  assert.equal((await driver.list()).length, 1);
  assert.equal(sim.userData().length, 2);
  const [server] = sim.servers();
  await driver.release(server!.id, { force: false });
  await clock.run(HOUR + 60_000);

  const later = restarted();
  await later.list();
  assert.equal(sim.userData().length, 1);
  await clock.run(HOUR / 4);
  await later.list();
  assert.deepEqual(sim.userData(), []);
});

test("the claim of a machine is reported by the list of a process that did not order it; a namesake is nobody's", async () => {
  const { driver, restarted, sim } = rig();
  const first = await driver.create(order());
  const second = await driver.create(order({ claim: "two words/ü", hostname: "pool-second" }));
  const namesake = await driver.create(order({ claim: "other" }));
  // Somebody else's server: same hostname, but it names other user data.
  Object.assign(sim.server(namesake.id)!, { userData: "ud_foreign" });

  const seen = new Map((await restarted().list()).map((machine) => [machine.id, machine.claim]));

  assert.equal(seen.get(first.id), CLAIM);
  assert.equal(seen.get(second.id), "two words/ü");
  assert.equal(seen.get(namesake.id), undefined);
});

test("a stranger's server is asked once what it was ordered with, whether or not it bears a name of ours", async () => {
  const { driver, restarted, sim, sent } = rig();
  await driver.create(order());
  const namesake = await driver.create(order({ claim: "b" }));
  const other = await driver.create(order({ claim: "c", hostname: "elsewhere" }));
  Object.assign(sim.server(namesake.id)!, { userData: "ud_foreign" });
  Object.assign(sim.server(other.id)!, { userData: undefined, hostname: "foreign" });
  const watcher = restarted();
  for (let i = 0; i < 3; i++) await watcher.list();
  const asked = (id: string): number =>
    sent.filter(({ request: { url } }) => url.includes(`${id}/deploy_config`)).length;
  assert.deepEqual([asked(namesake.id), asked(other.id)], [1, 1]);
});

test("a server that was renamed keeps its claim, and its mark is not swept away", async () => {
  const { driver, sim, clock, restarted } = rig();
  const { id } = await driver.create(order());
  await driver.create(order({ claim: "b", hostname: "pool-b" }));
  Object.assign(sim.server(id)!, { hostname: "renamed" });

  assert.deepEqual(
    (await restarted().find(CLAIM)).map((machine) => machine.id),
    [id],
  );
  for (const process of [restarted(), restarted()]) {
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(
        (await process.list()).map((machine) => machine.claim),
        [CLAIM, "b"],
      );
      await clock.run(HOUR);
    }
  }
  assert.equal(sim.userData().length, 2);
});

test("a server that appears while another process lists is not taken for a stranger's later", async () => {
  const other: { order?: () => Promise<unknown> } = {};
  const { driver, restarted } = rig({
    wrap: (http) => async (request) => {
      // Between two calls of the listing, a second machine is ordered.
      const meanwhile = other.order;
      if (meanwhile !== undefined && request.method === "GET") {
        delete other.order;
        await meanwhile();
      }
      return http(request);
    },
  });
  await driver.create(order());
  for (const skip of [0, 1, 2, 3]) {
    const claim = `late-${skip}`;
    const watcher = restarted();
    let calls = 0;
    other.order = async () => {
      if (calls++ < skip) other.order = again;
      else await driver.create(order({ claim, hostname: `pool-${claim}` }));
    };
    const again = other.order;
    await watcher.list();
    assert.equal((await watcher.find(claim)).length, 1, claim);
  }
});

test("where the provider does not tell the user data, hostname and order of creation decide", async () => {
  const { driver, sim, restarted, clock } = rig({ faults: { hidesUserData: true } });
  const bought = await driver.create(order());

  assert.deepEqual(
    (await restarted().find(CLAIM)).map((machine) => machine.id),
    [bought.id],
  );

  // A server that is older than the mark was not ordered with it.
  sim.server(bought.id)!.createdAt = clock.now() - HOUR;
  assert.deepEqual(await restarted().find(CLAIM), []);
});

test("finds of the same moment share a scan, and each sees what was there when it asked", async () => {
  const { driver, sim } = rig();
  for (let i = 0; i < 3; i++) await driver.create(order({ claim: `c${i}`, hostname: `pool-${i}` }));
  const before = sim.counters()["get-users-data"] ?? 0;

  const found = await Promise.all(["c0", "c1", "c2", "none"].map((claim) => driver.find(claim)));

  assert.deepEqual(
    found.map((machines) => machines.length),
    [1, 1, 1, 0],
  );
  // One to see whose marks there are, one after the servers were seen.
  assert.equal((sim.counters()["get-users-data"] ?? 0) - before, 2);
});

test("every page is read, whatever size the service cuts them to", async () => {
  const { driver, sim } = rig({ maxPageSize: 3 });
  for (let i = 0; i < 10; i++) await driver.create(order({ claim: `c${i}`, hostname: `pool-${i}` }));

  const machines = await driver.list();

  assert.deepEqual(
    machines.map((machine) => machine.claim),
    [..."0123456789"].map((i) => `c${i}`),
  );
  assert.equal(sim.counters()["get-servers"], 4);
});

test("no stock is NoCapacity; the next try uses the same user data object", async () => {
  const { driver, sim } = rig({ stock: { "DAL/c3-small-x86": 0 } });

  await assert.rejects(
    driver.create(order()),
    (e) => isFault(e, "NoCapacity") && /out of stock in DAL/.test(e.message),
  );
  sim.setStock("DAL", "c3-small-x86", 1);
  await driver.create(order());

  assert.equal(sim.userData().length, 1);
  await assert.rejects(driver.create(order({ claim: "b", hostname: "pool-b" })), (e) => isFault(e, "NoCapacity"));
});

test("a mark that is still tried for is not swept away by another process; one without user data is kept too", async () => {
  const { driver, sim, clock, restarted } = rig({ stock: { "DAL/c3-small-x86": 0 } });
  const wish = order({ boot: { scriptUrl: "https://boot.test/script", userData: "" } });
  const other = restarted();
  for (let minutes = 0; minutes < 120; minutes += 15) {
    await assert.rejects(driver.create(wish), (e) => isFault(e, "NoCapacity"));
    await other.list();
    await clock.run(15 * 60_000);
  }
  const marks = sim.userData().map((item) => [item.id, item.createdAt]);

  sim.setStock("DAL", "c3-small-x86", undefined);
  await driver.create(wish);

  assert.deepEqual(
    sim.userData().map((item) => [item.id, item.createdAt]),
    marks,
  );
  assert.ok(clock.now() - sim.userData()[0]!.createdAt >= 2 * HOUR);
});

test("an order that the API refuses for good is Invalid and leaves nothing behind", async () => {
  const { driver, sim } = rig();

  const wrong = order({ placement: { plan: "no-such-plan", metro: "dal" } });
  await assert.rejects(
    driver.create(wrong),
    (e) => isFault(e, "Invalid") && /plan is not one the service knows/.test(e.message),
  );

  assert.deepEqual([sim.userData().length, sim.boughtEver().length], [0, 0]);
  await assert.rejects(
    driver.create(order({ spot: {} })),
    (e) => isFault(e, "Invalid") && /spot market/.test(e.message),
  );
});

test("a key that was rotated away is BadCredentials, with a remedy and without the key", async () => {
  const { driver, sim } = rig();
  sim.rotateKey("another-key");

  const error = await driver.list().catch((e) => e);

  assert.ok(isFault(error, "BadCredentials"));
  assert.match(error.advice, /Secret/);
  assert.doesNotMatch(error.advice, /simulated-latitude-key/);
});

test("429 is obeyed: the call waits for as long as the answer says, and is handed back when that is too long", async () => {
  const soon = rig({ rateLimit: { requests: 3, windowMs: 20_000 } });
  const started = soon.clock.now();
  const list = Promise.all([soon.driver.list(), soon.driver.list()]);
  await soon.clock.run(45_000);
  await list;
  assert.ok(soon.clock.now() - started >= 20_000);

  const late = rig({ rateLimit: { requests: 1, windowMs: HOUR } });
  const failed = late.driver.list().catch((e) => e);
  await late.clock.run(1_000);
  const error = await failed;
  assert.ok(isFault(error, "Throttled"));
  assert.equal(error.retryAfterMs, HOUR);
});

test("a 5xx or lost answer is LostAnswer for an order and Unavailable for a read", async () => {
  const broken = rig({ wrap: () => async () => json(502, { errors: [] }) });
  await assert.rejects(broken.driver.create(order()), (e) => isFault(e, "LostAnswer"));
  await assert.rejects(broken.driver.list(), (e) => isFault(e, "Unavailable"));

  const lost = rig({ wrap: losing(() => true) });
  await assert.rejects(lost.driver.read("sv_1"), (e) => isFault(e, "Unavailable"));
});

test("a redirect is refused: the key is for the endpoint only", async () => {
  const { driver } = rig({
    wrap: () => async () => ({ status: 302, headers: { location: "https://evil.test" }, body: "" }),
  });

  await assert.rejects(driver.list(), (e) => isFault(e, "Unavailable") && /redirect/.test(e.message));
});

test("a failed deployment is failed, and reinstalling it boots the new script with the new user data", async () => {
  let fails = true;
  const { driver, until, firmware } = rig({ faults: { failsToDeploy: () => fails } });
  const { id } = await driver.create(order());
  await until(id, "failed");

  fails = false;
  await driver.reinstall(id, { scriptUrl: "https://boot.test/again", userData: "again" });
  assert.equal((await driver.read(id))?.phase, "reinstalling");
  await until(id, "running");

  assert.deepEqual(firmware.boots.at(-1)?.boot, { scriptUrl: "https://boot.test/again", userData: "again" });
  assert.deepEqual(firmware.wiped, ["pool-abcdefgh"]);
});

test("configure sets what the next network boot gets, on a machine that another process ordered too", async () => {
  const { driver, restarted, sim } = rig();
  const { id } = await driver.create(order());

  await restarted().configure(id, { scriptUrl: "https://boot.test/new", userData: "new" });

  assert.equal(sim.server(id)?.ipxe, "https://boot.test/new");
  assert.equal(Buffer.from(sim.userData()[0]!.content, "base64").toString(), "new");
  assert.equal(sim.userData().length, 1);
});

test("a machine that Slipway did not order is seen, and not reinstalled", async () => {
  const { driver, sim, restarted } = rig();
  const { id } = await driver.create(order());
  Object.assign(sim.server(id)!, { hostname: "database", userData: undefined });
  const other = restarted();

  assert.deepEqual(
    (await other.list()).map((machine) => machine.claim),
    [undefined],
  );
  await assert.rejects(other.reinstall(id, order().boot), (e) => isFault(e, "Refused"));
});

test("power is switched, and switching what is so already is fine", async () => {
  const { driver, until, clock } = rig();
  const { id } = await driver.create(order());
  await until(id, "running");
  await driver.power(id, "on");
  await driver.power(id, "off");
  await until(id, "stopped");
  await driver.power(id, "off");
  await clock.run(60_000);
  await driver.power(id, "cycle");
  await until(id, "running");
});

test("a locked server is reported as locked and its release is refused with the code Locked", async () => {
  const { driver, sim } = rig();
  const { id } = await driver.create(order());
  sim.lock(id, true);

  assert.equal((await driver.read(id))?.locked, true);
  await assert.rejects(driver.release(id, { force: true }), (e) => isFault(e, "Locked"));
  assert.equal(sim.userData().length, 1);
});

test("virtual networks: missing ones are assigned, surplus ones removed, and a second run makes no call", async () => {
  const { driver, sim, sent } = rig();
  const [one, two, elsewhere] = [sim.addNetwork("DAL"), sim.addNetwork("DAL"), sim.addNetwork("ASH")];
  const bought = await driver.create(order());
  const wish = { mode: "hybrid" as const, vlans: [{ port: "bond0", vlans: [String(one.vid), two.id] }] };

  let machine = (await driver.read(bought.id))!;
  assert.equal(driver.networkSettled(machine, wish), false);
  machine = await driver.setNetwork(machine, wish);
  assert.equal(driver.networkSettled(machine, wish), true);
  assert.deepEqual(machine.ports.find((port) => port.vlans.length > 0)?.vlans, [String(one.vid), String(two.vid)]);
  const calls = sent.length;
  assert.equal(await driver.setNetwork(machine, wish), machine);
  assert.equal(sent.length, calls);

  machine = await driver.setNetwork(machine, { mode: "layer3", vlans: [] });
  assert.deepEqual(
    machine.ports.flatMap((port) => port.vlans),
    [],
  );
  assert.equal(driver.networkSettled(machine, { mode: undefined, vlans: [] }), true);
  const far = { mode: "hybrid" as const, vlans: [{ port: "eth1", vlans: [String(elsewhere.vid)] }] };
  await assert.rejects(
    driver.setNetwork(machine, far),
    (e) => isFault(e, "MissingInput") && /in site DAL/.test(e.message),
  );
});

test("a network mode that Latitude does not have is refused, and never settled", async () => {
  const { driver } = rig();
  const machine = await driver.create(order());
  const wish = { mode: "layer2-bonded" as const, vlans: [] };

  assert.equal(driver.networkSettled(machine, wish), false);
  await assert.rejects(
    driver.setNetwork(machine, wish),
    (e) => isFault(e, "Invalid") && /layer3, hybrid/.test(e.advice),
  );
});

test("the project is found by slug or name, once", async () => {
  for (const project of ["simulated-iron", "Simulated Iron"]) {
    const { driver, sim } = rig({ account: { project } });
    await driver.create(order());
    await driver.list();
    assert.ok((sim.counters()["get-projects"] ?? 0) <= 2);
  }
  const { driver } = rig({ account: { project: "nowhere" } });
  await assert.rejects(driver.list(), (e) => isFault(e, "MissingInput") && /no project/.test(e.message));
});

test("a thousand claims are listed with one call per page", async () => {
  const { driver, sim } = rig({ timings: { deployingMs: [0, 0] }, maxPageSize: 250 });
  for (let i = 0; i < 1000; i++) await driver.create(order({ claim: `c${i}`, hostname: `pool-${i}` }));
  const before = Object.values(sim.counters()).reduce((sum, n) => sum + n, 0);

  const machines = await driver.list();

  assert.equal(new Set(machines.map((machine) => machine.claim)).size, 1000);
  // 4 pages of servers, 10 of user data, 1 of assignments.
  assert.equal(Object.values(sim.counters()).reduce((sum, n) => sum + n, 0) - before, 15);
  assert.equal(before, 2000);
});

test("B50 a machine's price is that of its plan in the region of its site; where it is not sold there is none", async () => {
  const { driver } = rig();
  assert.deepEqual(await driver.priceOf!({ plan: "c3.small.x86", metro: "dal" }), { hourly: 0.25, currency: "USD" });
  assert.deepEqual(await driver.priceOf!({ plan: "c3.xlarge.x86", metro: "FRA" }), { hourly: 2, currency: "USD" });
  for (const [plan, metro] of [
    ["none", "dal"],
    ["c3.small.x86", "nowhere"],
    ["c3.small.x86", undefined],
  ] as const)
    assert.equal(await driver.priceOf!({ plan, metro }), undefined);
});
