/** What reaches the provider with an order, which account serves it, and what becomes of refusals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Http, type HttpAnswer, json } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { LATITUDE_MAPPING } from "./cloud.ts";
import { API_KEY, BOOTSTRAP, conditionOf, inPacketWorld, type PacketWorld, PROJECT } from "./packet-world.ts";
import { MINUTE } from "./world.ts";

const PLAN = "c3.medium.x86";
const RESERVATIONS = ["7e570000-0000-4000-8000-000000000001", "7e570000-0000-4000-8000-000000000002"];

/** What the provider got of the only order. */
function ordered(world: PacketWorld): Record<string, unknown> {
  const [device, ...others] = world.equinix.devices();
  assert.equal(others.length, 0);
  return device!.order as Record<string, unknown>;
}

test("A6 B30 tags, public keys, billing cycle and plan reach the order", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", { tags: ["one", "two"], sshKeys: ["ssh-ed25519 AAAA me@home"] });
    await world.ready("a-1");
    const order = ordered(world);
    assert.deepEqual((order.tags as string[]).slice(-2), ["one", "two"]);
    assert.deepEqual(order.ssh_keys, [{ key: "ssh-ed25519 AAAA me@home", label: "me@home" }]);
    assert.deepEqual(
      [order.plan, order.metro, order.operating_system, order.billing_cycle, order.hostname],
      [PLAN, "da", "ubuntu_20_04", "hourly", "a-1"],
    );
  }));

test("A6 B30 keys by their ids reach the order as keys of the project", () =>
  inPacketWorld(async (world) => {
    const key = await world.metal<{ id: string }>(`/projects/${PROJECT}/ssh-keys`, { label: "k", key: "ssh-rsa A" });
    await world.cluster("a");
    await world.machine("a-1", { sshKeys: [key.id] });
    await world.ready("a-1");
    assert.deepEqual(ordered(world).project_ssh_keys, [key.id]);
  }));

const forms: [form: string, spec: object, wanted: string[]][] = [
  ["one id", { hardwareReservationID: RESERVATIONS[1] }, [RESERVATIONS[1]!]],
  ["one id with a metro", { hardwareReservationID: RESERVATIONS[1], metro: "ny" }, [RESERVATIONS[1]!]],
  ["a list with a facility", { hardwareReservationID: RESERVATIONS.join(","), facility: "ny5" }, [RESERVATIONS[0]!]],
  ["next-available", { hardwareReservationID: "next-available" }, RESERVATIONS],
];
for (const [form, spec, wanted] of forms)
  test(`A6 B30 hardwareReservationID, ${form}`, () =>
    inPacketWorld(
      async (world) => {
        await world.cluster("a");
        await world.machine("a-1", spec);
        await world.ready("a-1");
        assert.ok(wanted.includes(world.equinix.devices()[0]!.reservation!));
      },
      { equinix: { reservations: RESERVATIONS.map((id) => ({ id, plan: PLAN, metro: "ny" })) } },
    ));

test("B47 of a list of reservations each machine gets one, and a replacement the one that was given back", () =>
  inPacketWorld(
    async (world) => {
      const spec = { hardwareReservationID: RESERVATIONS.join(", ") };
      const held = () => world.equinix.devices().map(({ hostname, reservation }) => `${hostname} ${reservation}`);
      await world.cluster("a");
      await world.machine("a-1", spec);
      await world.ready("a-1");
      await world.machine("a-2", spec);
      await world.ready("a-2");
      assert.deepEqual(held(), [`a-1 ${RESERVATIONS[0]}`, `a-2 ${RESERVATIONS[1]}`]);
      await world.remove(PacketMachine, "a-1");
      await world.machine("a-3", spec);
      await world.ready("a-3");
      assert.deepEqual(held(), [`a-2 ${RESERVATIONS[1]}`, `a-3 ${RESERVATIONS[0]}`]);
    },
    { equinix: { reservations: RESERVATIONS.map((id) => ({ id, plan: PLAN, metro: "ny" })) } },
  ));

test("B47 other metros and plans are tried in their order; the Machine's failure domain goes before the metro", () =>
  inPacketWorld(
    async (world) => {
      await world.cluster("a");
      await world.machine("a-1", { metros: ["ny"], machineTypes: ["m3.large.x86"] });
      await world.ready("a-1");
      const [device] = world.equinix.devices();
      assert.deepEqual([device!.plan.slug, device!.metro], ["m3.large.x86", "da"]);
      assert.equal((await world.packetMachine("a-1")).status?.failureDomain, "da");
      await world.machine("a-2", {}, { failureDomain: "sv" });
      await world.ready("a-2");
      assert.equal(world.equinix.devices().find(({ hostname }) => hostname === "a-2")!.metro, "sv");
    },
    { equinix: { capacity: { [`da/${PLAN}`]: 0, [`ny/${PLAN}`]: 0 } } },
  ));

test("B43 devices without a facility are no trouble", () =>
  inPacketWorld(
    async (world) => {
      await world.cluster("a");
      await world.machine("a-1");
      await world.ready("a-1");
    },
    {
      clouds: altered((answer) => ({
        ...answer,
        body: answer.body.replaceAll(/"facility":\{(?:[^{}]|\{[^{}]*\})*\},/g, ""),
      })),
    },
  ));

function altered(change: (answer: HttpAnswer) => HttpAnswer) {
  return (inner: Http): Http =>
    async (request) =>
      change(await inner(request));
}

/** Answers the first orders of devices by itself. */
function refusing(answers: HttpAnswer[]) {
  return (inner: Http): Http =>
    async (request) => {
      const isOrder = request.method === "POST" && request.url.includes("/devices");
      return (isOrder && answers.shift()) || (await inner(request));
    };
}

const refusal = (text: string) => json(422, { errors: [text] });
const classes: [name: string, answer: HttpAnswer, says: RegExp][] = [
  ["403", json(403, { error: "Forbidden" }), /403/],
  ["422 without capacity", refusal("There aren't available servers in that metro"), /capacity/],
  [
    "422 of the quota",
    refusal("You have reached the maximum number of projects' devices: device limit exceeded"),
    /capacity/,
  ],
  ["429", json(429, { error: "Too many requests" }, { "retry-after": "30" }), /order/],
  ["500", json(500, { error: "oops" }), /order/],
  ["503", json(503, { error: "unavailable" }), /order/],
];
for (const [name, answer, says] of classes)
  test(`A7 B34 an order that is answered ${name} is no end: the status says why, and one machine comes in the end`, () =>
    inPacketWorld(
      async (world) => {
        await world.cluster("a");
        await world.machine("a-1");
        let told = "";
        await world.reach("ready", async () => {
          const { status } = await world.packetMachine("a-1");
          told += `${status?.waitingFor ?? ""} ${status?.conditions?.map(({ message }) => message).join(" ")}\n`;
          return status?.ready === true;
        });
        assert.match(told, says);
        assert.equal(world.equinix.boughtEver().length, 1);
        assert.equal((await world.packetMachine("a-1")).status?.failureReason, undefined);
      },
      { clouds: refusing([answer]) },
    ));

test("A7 B34 an order that is wrong in itself waits for its correction and is not repeated meanwhile", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", { os: "ubuntu_99" });
    await world.reach("refused", async () => {
      const machine = await world.packetMachine("a-1");
      return conditionOf(machine, "InstanceReady") === "False InstanceProvisionFailed Warning";
    });
    const { createDevice = 0 } = world.equinix.counters();
    await world.clock.run(60 * MINUTE);
    assert.ok((world.equinix.counters().createDevice ?? 0) <= createDevice + 40);
    assert.match((await world.packetMachine("a-1")).status!.waitingFor!, /operating_system ubuntu_99/);
    await world.remove(PacketMachine, "a-1");
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
  }));

test("A7 B42 a name that bootstrap data may not have is said with its line, and mended data are taken", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", {}, { data: "#cloud-config\n# {{ .kubernetesVersionn }}\n" });
    await world.reach("refused", async () => {
      const { status } = await world.packetMachine("a-1");
      return /line 2: there is no name \.kubernetesVersionn/.test(status?.waitingFor ?? "");
    });
    assert.deepEqual(world.equinix.boughtEver(), []);
    const ref = { namespace: "default", name: "a-1-data" };
    await world.whileTimePasses(
      world.client.patch(Secret, ref, { type: "merge", body: { stringData: { value: BOOTSTRAP } } }),
    );
    // What wakes it: anything that changes around it.
    const body = { spec: { tags: ["mended"] } };
    await world.whileTimePasses(
      world.client.patch(PacketMachine, { namespace: "default", name: "a-1" }, { type: "merge", body }),
    );
    await world.ready("a-1");
  }));

test("B35 an order whose connection breaks is looked for: one machine, and never a providerID without an id", () =>
  inPacketWorld(
    async (world) => {
      await world.cluster("a");
      await world.machine("a-1");
      await world.reach("ready", async () => {
        const machine = await world.packetMachine("a-1");
        assert.notEqual(machine.spec.providerID, "equinixmetal://");
        return machine.status?.ready === true;
      });
      assert.equal(world.equinix.boughtEver().length, 1);
    },
    { clouds: breakingOnce() },
  ));

/** The first order has its effect, and its answer is cut off. */
function breakingOnce() {
  let left = 1;
  return (inner: Http): Http =>
    async (request) => {
      const answer = await inner(request);
      const isOrder = request.method === "POST" && request.url.includes("/devices");
      return isOrder && left-- > 0 ? { ...answer, body: answer.body.slice(0, 40) } : answer;
    };
}

test("B38 credentials of a cluster's own: a Secret beside its PacketCluster", () =>
  inPacketWorld(async (world) => {
    await world.credentials("useless");
    await world.whileTimePasses(
      world.client.create(Secret, {
        metadata: { name: "mine", namespace: "default" },
        stringData: { PACKET_API_KEY: API_KEY },
      }),
    );
    await world.cluster("a", { credentialsRef: { name: "mine" } });
    await world.machine("a-1");
    await world.ready("a-1");
    await world.cluster("b");
    await world.clock.run(5 * MINUTE);
    assert.match((await world.packetCluster("b"))!.status!.waitingFor!, /401/);
  }));

test("B45 machines of a cluster come from Latitude where its MachineProvider says so", () =>
  inPacketWorld(async (world) => {
    const { token, project } = EXAMPLE_KEYS.latitude;
    const metadata = { name: "latitude", namespace: "harvester-system" };
    const stringData = { METAL_AUTH_TOKEN: token, PROJECT_ID: project.id };
    await world.whileTimePasses(world.client.create(Secret, { metadata, stringData }));
    const mapping = { planMapping: { [PLAN]: "c2-small-x86" }, metroMapping: { da: LATITUDE_MAPPING.metroMapping.SG } };
    const spec = { type: "latitude" as const, credentialsSecretRef: { name: "latitude" }, ...mapping };
    await world.whileTimePasses(world.client.create(MachineProvider, { metadata: { name: "latitude" }, spec }));
    await world.cluster("a", {
      providerRef: { name: "latitude" },
      vipManager: "NONE",
      controlPlaneEndpoint: { host: "h", port: 6443 },
    });
    await world.machine("a-1");
    await world.ready("a-1");
    const [server] = world.latitude.servers();
    const machine = await world.packetMachine("a-1");
    assert.equal(machine.spec.providerID, `equinixmetal://${server!.id}`);
    assert.equal(machine.status?.provider, "latitude");
    await world.remove(PacketMachine, "a-1");
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.deepEqual(
      world.latitude.servers().filter(({ leaving }) => !leaving),
      [],
    );
  }));

test("a provider without elastic IPs refuses CPEM in words", () =>
  inPacketWorld(async (world) => {
    const metadata = { name: "latitude", namespace: "harvester-system" };
    const stringData = { METAL_AUTH_TOKEN: EXAMPLE_KEYS.latitude.token, PROJECT_ID: EXAMPLE_KEYS.latitude.project.id };
    await world.whileTimePasses(world.client.create(Secret, { metadata, stringData }));
    const spec = { type: "latitude" as const, credentialsSecretRef: { name: "latitude" } };
    await world.whileTimePasses(world.client.create(MachineProvider, { metadata: { name: "latitude" }, spec }));
    await world.cluster("a", { providerRef: { name: "latitude" } });
    await world.clock.run(MINUTE);
    assert.match(
      (await world.packetCluster())!.status!.waitingFor!,
      /type latitude has no elastic IPs.*vipManager NONE/s,
    );
  }));

test("B51 a live device of the original is adopted by its providerID, and one whose providerID was not written by its tags", () =>
  inPacketWorld(async (world) => {
    const body = (name: string) => ({
      ...{ hostname: name, plan: PLAN, metro: "da", operating_system: "ubuntu_20_04" },
      tags: ["capp:cluster-id:a", `capp:machine-uid:${name}`, "capp:namespace:default", "kubernetes.io/role:node"],
    });
    const one = await world.metal<{ id: string }>(`/projects/${PROJECT}/devices`, body("a-1"));
    const two = await world.metal<{ id: string }>(`/projects/${PROJECT}/devices`, body("a-2"));
    await world.clock.run(10 * MINUTE);
    await world.cluster("a");
    await world.machine("a-1", { providerID: `equinixmetal://${one.id}` });
    await world.machine("a-2");
    await world.ready("a-1", "a-2");
    assert.equal(world.equinix.boughtEver().length, 2);
    assert.equal((await world.packetMachine("a-2")).spec.providerID, `equinixmetal://${two.id}`);
    const { uid } = (await world.packetMachine("a-1")).metadata;
    assert.ok(world.equinix.device(one.id)!.tags.includes(`slipway:claim:${uid}`), "it carries Slipway's mark");
    for (const name of ["a-1", "a-2"]) await world.remove(PacketMachine, name);
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.deepEqual(world.equinix.devices(), []);
  }));
