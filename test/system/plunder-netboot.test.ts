/** PlunderMachines on a netboot outside of the cluster, which Secret `plunder` names. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, plain } from "@slipway/base";
import { conditionOf } from "@slipway/kube";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import { clientFile, inRemoteWorld, putClientFile } from "./remote-netboot.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const HOUR_IN_DAYS = 1 / 24;
const NAMES = ["controlplane", "worker"];

const stalled = (world: PlunderWorld, name: string) => async () =>
  conditionOf((await world.plunderMachine(name))?.status?.conditions, "Stalled");

test("N34 N36 N38 N45 Secret plunder names a netboot: machines become Nodes on its hosts, and are wiped there with proof; no bootstrap data and no address of them are shown", () =>
  inRemoteWorld(async (world, netboot) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    netboot.check();
    const machines = await world.plunderMachines();
    for (const { metadata, spec, status } of machines) {
      const kept = netboot.book.deployments.find(({ claim }) => claim?.id === metadata.uid)!;
      assert.equal(spec.providerID, `plunder://${kept.deployment.mac}`);
      assert.deepEqual(
        [status?.provider, status?.macAddress, status?.ready],
        ["Secret/plunder", kept.deployment.mac, true],
      );
      assert.equal(kept.claim?.holder, `PlunderMachine/default/${metadata.name}`);
      // What is asked for by an address is at the operator alone.
      assert.ok(!world.logged.join("\n").includes(kept.claim!.seedUrl), "the address of bootstrap data is in the log");
    }
    assert.doesNotMatch(netboot.kept!, /kubeadm|BEGIN .*KEY/);
    const ids = (await world.nodes()).map(({ spec }) => spec?.providerID).toSorted();
    assert.deepEqual(ids, machines.map(({ spec }) => spec.providerID).toSorted());
    await assert.rejects(
      netboot.book.remove(netboot.book.deployments[0]!.deployment.mac),
      /is of PlunderMachine\/default/,
    );
    for (const name of NAMES) await world.remove(Machine, name);
    await world.until("the condition says who is waited for", async () =>
      (await world.plunderMachines()).every(({ status }) =>
        status?.waitingFor?.includes("somebody to restart it from the network"),
      ),
    );
    await netboot.untilAllGone();
    assert.equal(netboot.unleased, 3);
    for (const name of NAMES)
      assert.match(
        (await world.told(name)).join("\n"),
        /Wiped: host [0-9a-f-]+\/[0-9a-f-]+: wiped, and read back: \/dev\/nvme0n1 \(metadata\)/,
      );
  }));

test("N38 a machine that found no host of this cluster has one of the netboot as soon as Secret plunder names that", () =>
  inRemoteWorld(
    async (world, netboot) => {
      await world.operator();
      await world.createTodays(OLD_MANIFESTS);
      await world.until("no host is found", async () =>
        (await world.told("controlplane")).some((one) => one.startsWith("No Hardware found")),
      );
      assert.equal(netboot.calls.size, 0);
      await putClientFile(world, await clientFile(world));
      await world.untilRunning(2);
      assert.equal(netboot.book.deployments.length, 2);
    },
    { isNamed: false },
  ));

test("N34 a machine whose system netboot can ask to restart is wiped without anybody's hand", () =>
  inRemoteWorld(async (world, netboot) => {
    netboot.canRestart = true;
    await netboot.start();
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    for (const name of NAMES) await world.remove(Machine, name);
    await world.untilGone();
    netboot.check();
    assert.equal(netboot.unleased, 3);
  }));

test("N32 N42 a machine that has fetched its bootstrap data is known to have them, where the process that answered died at once", () =>
  inRemoteWorld(async (world) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    const isServed = (): boolean => world.logged.some((line) => /"what":"user-data".*"status":200/.test(line));
    await world.until("bootstrap data are fetched", isServed, HOUR, SECOND / 4);
    world.kill();
    assert.equal((await world.plunderMachine("controlplane"))?.status?.install?.configFetched, undefined);
    await world.operator();
    await world.untilRunning(2);
  }));

test("N38 N42 answers that are lost after their effect, and a netboot that dies after each write, cost no second host", () =>
  inRemoteWorld(async (world, netboot) => {
    let lost = 0;
    netboot.befall = async (request, answer) => {
      const given = await answer();
      if (request.method === "GET" || lost++ % 2 === 1) return given;
      await netboot.start();
      throw new Error("reset");
    };
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    assert.equal(netboot.book.deployments.length, 2);
    for (const name of NAMES) await world.remove(Machine, name);
    await netboot.untilAllGone();
    assert.equal(netboot.unleased, 3);
    assert.ok(lost >= 4, `${lost} writes`);
  }));

test("N36 a revoked certificate, one that has expired and a netboot that is not reached are reported with their time; nothing is lost, and an exchanged Secret is noticed", () =>
  inRemoteWorld(async (world, netboot) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    const of = stalled(world, "worker");
    netboot.befall = async () => plain(403, "forbidden\n");
    await world.until("it is reported as refused", async () =>
      /does not serve this client certificate/.test((await of())?.message ?? ""),
    );
    const { lastTransitionTime } = (await of())!;
    await world.clock.run(10 * MINUTE);
    assert.equal((await of())!.lastTransitionTime, lastTransitionTime);
    netboot.befall = (_, answer) => answer();
    await putClientFile(world, await clientFile(world, HOUR_IN_DAYS));
    await world.until("it is well again", async () => (await of())?.status !== "True");
    await world.clock.run(HOUR);
    await world.until("it is reported as expired", async () =>
      /the client certificate expired at/.test((await of())?.message ?? ""),
    );
    await putClientFile(world, await clientFile(world));
    await world.until("it is well again", async () => (await of())?.status !== "True");
    await netboot.stop();
    await world.until("it is reported as away", async () => /no answer from the API/.test((await of())?.message ?? ""));
    await netboot.start();
    await world.until("it is well again", async () => (await of())?.status !== "True");
    assert.deepEqual(
      (await world.machines()).map(({ status }) => status?.phase),
      ["Running", "Running"],
    );
    assert.equal(netboot.book.deployments.length, 2);
  }));

test("N34 N38 a netboot that names another machine's MAC, or loses a deployment, is not believed: no machine is shared, and none is let go without a proof", () =>
  inRemoteWorld(async (world, netboot) => {
    await world.operator();
    await world.createTodays(OLD_MANIFESTS);
    await world.untilRunning(2);
    const worker = (await world.plunderMachine("worker"))!;
    const other = (await world.plunderMachine("controlplane"))!.status!.macAddress!;
    netboot.befall = async (_, answer) => {
      const { body, ...rest } = await answer();
      return { ...rest, body: body.replaceAll(worker.status!.macAddress!, other) };
    };
    const of = stalled(world, "worker");
    await world.until("the lie is reported", async () => /names/.test((await of())?.message ?? ""));
    assert.equal((await world.plunderMachine("worker"))!.spec.providerID, worker.spec.providerID);
    netboot.befall = async (_, answer) => {
      const { body, ...rest } = await answer();
      return body.includes("machines") ? { ...rest, body: '{"machines":[]}' } : { ...rest, body };
    };
    await world.until("the loss is reported", async () => /does not know machine/.test((await of())?.message ?? ""));
    const { status } = (await world.plunderMachine("worker"))!;
    assert.deepEqual([status?.ready, status?.failureReason], [true, undefined], "a machine that runs is given up");
    await world.remove(Machine, "worker");
    await world.until("no proof is reported", async () =>
      /has no proof that it was wiped/.test((await of())?.message ?? ""),
    );
    netboot.befall = (_, answer) => answer();
    const fault = new Fault("Refused", "a wipe", "busy");
    const server = [...netboot.rack.servers.values()].find(({ mac }) => mac === worker.status!.macAddress)!;
    server.faults = { ...server.faults, failure: (order) => (order === "wipe" ? fault.message : undefined) };
    await world.until("the failure is reported", async () => {
      netboot.restartReleased();
      return /the disks are not wiped/.test((await world.plunderMachine("worker"))?.status?.waitingFor ?? "");
    });
    server.faults = { ...server.faults, failure: () => undefined };
    await world.until("it is gone", async () => (await world.plunderMachine("worker")) === undefined);
    netboot.check();
  }));
